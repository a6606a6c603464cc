/* SPDX-License-Identifier: MIT */
/*
 * operations - the operations of the code, and their uses that were seen
 *
 * An operation is a line, the kind of access there, and the order written
 * there. Each event of a graph has the number of its operation. When a read of
 * another CPU's write is added, that is noted for both operations.
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <klock/types.hpp>

#include <model/options.hpp>

#include <vector>

namespace model {

using klock::u16;
using klock::u32;
using klock::usize;
using klock::arch::site;

/* The order that an operation has in this run, and its number. */
struct effect {
	order ord;
	u16 op = 0;
};

struct operation_table {
	/* Uses of an operation that were seen in any execution. */
	enum : u8 {
		read_another = 1,    /* it read what another CPU wrote */
		read_by_another = 2, /* another CPU read what it wrote */
		acquired = 4, /* and data were in order by that: uses.hpp */
		released = 8,
	};

	struct one {
		site where{nullptr, 0};
		operation what = operation::load;
		order written = order::relaxed;
		u8 seen = 0;
		bool is_plain = false; /* no atomic, but taken as one */
		u16 fails = 0; /* compare-and-swap: the load if it fails */
	};

	void forget();

	/* Its number; 0: the checker's own, or one too many. */
	u16 number(site, operation, order);
	/* One CPU's operation reads what another CPU's has written. */
	void note_read(u16 reader, u16 writer)
	{
		all[reader].seen |= read_another;
		all[writer].seen |= read_by_another;
	}

	one &operator[](u16 op) { return all[op]; }
	const one &operator[](u16 op) const { return all[op]; }

	std::vector<one> all = std::vector<one>(1);

      private:
	u16 make(site, operation, order);

	u16 recent[256] = {}; /* by what a site's hash is */
};

/* The order that an operation has by options.weaken. */
order weakened(const options &, operation, order written, site);

} // namespace model
