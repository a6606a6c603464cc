/* SPDX-License-Identifier: MIT */
/*
 * operations - the operations of the code, and what was seen of them
 *
 * An operation is a line, what is done there, and the order written there. Each
 * event of a graph has the number of its operation. Whether one CPU's operation
 * read what another CPU's had written is noted where such a read is added.
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
	/* Seen of an operation, in any execution. */
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

	/* Its number; 0 is the checker's own, and what is too much. */
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
