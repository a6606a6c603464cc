/* SPDX-License-Identifier: MIT */
/*
 * timeline - one run as text, or as a picture: a column a CPU, a row an
 * operation
 */
#pragma once

#include "graph.hpp"
#include "objects.hpp"
#include "thread_locals.hpp"

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace model {

/* "ticket_lock.hpp:75"; nothing for no place. */
std::string text(site);

/* The function that has this address, as nm prints it; empty: not known. */
std::string function_at(const void *);

/* The names of objects: given by their owner, or made from their position. */
struct names {
	/* type: as members.hpp has it, or null. */
	void add(const void *object, usize bytes, const char *text,
		 const void *type = nullptr);
	void forget() { given.clear(); }
	/* An atomic struct, with the bits that are no padding: its values are
	 * shown by their members. */
	void add_struct(const void *at, const void *type, u64 bits)
	{
		structs[at] = {type, bits};
	}

	/*
	 * "lock", "lock.next", "slot[2]", else "lock+0x1", "world+0x10";
	 * "stack2-0x40"; a global by its own name, or "static1"; a variable of
	 * the function that explores "local1", what was allocated before
	 * "heap1"; what CPU 1 allocated third: "new1.3", what the world did:
	 * "made.3"; a thread_local "cpu1's depth", or, of the thread that
	 * makes the world, "main's depth". outermost: a structure rather than
	 * its first member.
	 */
	std::string of(const void *at, bool outermost = false) const;

	/* A value, as a name where it is the address of something known. */
	std::string value(u64 v, unsigned bytes) const;
	/* The value of what lies there. Of a struct "{tag 97, index -3}";
	 * without debugging information its bytes, "61 .. .. .. fd ff ff ff".
	 */
	std::string value_at(const void *at, u64 v, unsigned bytes) const;

	const void *world = nullptr;
	usize world_bytes = 0;
	const void *world_type = nullptr;

	/* The frame of explore(): its callers' are above it. */
	const char *explores = nullptr;

	/* Each CPU's lowest and highest byte. */
	struct range {
		const char *low, *high;
	};
	std::vector<range> stacks;
	const thread_locals *locals = nullptr;

      private:
	std::string of_cpu(const char *at) const;
	bool is_explorers(const char *at) const
	{
		constexpr usize most = usize{1} << 20;

		return at >= explores && at < explores + most;
	}

	struct entry {
		const char *at;
		usize bytes;
		std::string text;
		const void *type;
	};
	std::vector<entry> given;
	std::map<const void *, std::pair<const void *, u64>> structs;
	/* Objects without a name, by their kind. */
	mutable std::map<std::string, std::vector<const void *>> unnamed;
};

struct timeline {
	struct row {
		unsigned cpu;
		std::string text;
		site where;
		ref read{};  /* the event, where it reads */
		ref write{}; /* where it writes */
		unsigned location = 0;
		/* Its object; null: the reader needs the row. */
		const char *at = nullptr;
		usize bytes = 0;
		bool plain = false, writes = false;
		std::string name = {};
	};

	void add(row r)
	{
		if (aloud)
			std::fprintf(stderr, "cpu%u: %s  %s\n", r.cpu,
				     r.text.c_str(),
				     model::text(r.where).c_str());
		rows.push_back(std::move(r));
	}

	/* -- Before text() -- */

	/* Leaves out the CPUs on which no row of these depends. */
	void leave_out(const graph &, std::vector<bool> taking_part);
	/* Makes one row of several that no other CPU could notice. */
	void fold_own();

	/* The rows, with the write that each read reads, and the bug below
	 * them. */
	std::string text(const graph &, const std::string &bug,
			 site where) const;

	/* The rows as SVG, with an arrow from each write to its readers. */
	std::string svg(const graph &, const std::string &bug,
			site where) const;

	/* Rows are printed as they come: there may be no text() of them. */
	static bool aloud;

	/* The number of the row that has this event; or nothing. */
	std::string row_of(ref event) const;

	/* How often the next row is another CPU's. */
	unsigned switches() const;

      private:
	/* The write that a row reads: its row, and how old it was. */
	struct origin {
		std::size_t row =
			0;	    /* from 1; 0: what was there at the start */
		unsigned newer = 0; /* writes above this row that are newer */
		std::size_t newest = 0; /* the last of them */
	};
	bool origin_of(const graph &, std::size_t row, origin &) const;
	std::size_t overwritten_by(const graph &, std::size_t row) const;
	std::string source(const graph &, std::size_t of_row) const;

	/* -- Rows that nobody needs -- */
	bool depends(const graph &, const row &, const row &that,
		     bool that_is_above) const;
	void close(const graph &, std::vector<bool> &taking_part) const;
	row folded(std::size_t first, std::size_t behind) const;

	std::vector<row> rows;
	std::vector<bool> is_absent;  /* CPUs that are left out */
	std::vector<unsigned> absent; /* and how many rows they had */
	bool shows(unsigned cpu) const
	{
		return is_absent.empty() || !is_absent[cpu];
	}
};

} // namespace model
