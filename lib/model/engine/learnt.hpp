/* SPDX-License-Identifier: MIT */
/*
 * learnt - what each CPU's code does next, by what it has read so far
 *
 * Code that does the same when it reads the same is a tree: each operation is a
 * step, each value read is an edge. Runs write it down. The known part is then
 * walked (walker.hpp), and the code need not run again. The tree is small even
 * if there are many executions: these differ in which write a read takes, but
 * each CPU reads few values.
 *
 * Plain accesses are steps, too. The last accesses of a history are kept with
 * it, so races are found without memory.
 */
#pragma once

#include "graph.hpp"
#include "operations.hpp"

#include <klock/arch/engine.hpp>

#include <model/options.hpp>

#include <deque>
#include <unordered_map>
#include <vector>

namespace model {

namespace hooked = klock::arch::hooked;
using hooked::window;
using klock::usize;

/* An operation for the graphs, with the values that it accepts and writes. */
struct reading {
	window at;
	order ord;	 /* of the read */
	order store_ord; /* of what an RMW or a store writes */
	const hooked::test *until = nullptr; /* a wait: what ends it */

	/* An RMW: what it would write; null: it only reads. */
	bool writes = false;
	hooked::update by = hooked::update::exchange;
	u64 operand = 0;
	const u64 *expected = nullptr; /* compare-and-swap: if this is there */

	order failed;	    /* compare-and-swap: the read's, if it fails */
	u64 fits = ~u64{0}; /* bits of the location that can be set */
	u16 op = 0;	    /* number of the code's operation */

	reading(const window &w, order o)
	    : at(w), ord(o), store_ord(o), failed(o)
	{
	}
	reading(const window &w, effect e) : reading(w, e.ord) { op = e.op; }

	bool ends(u64 word) const { return !until || (*until)(at.look(word)); }
	bool would_write(u64 word) const
	{
		return writes && ends(word) &&
		       (!expected || at.look(word) == *expected);
	}
	/* The read's order if it finds this value. */
	order order_for(u64 word) const
	{
		return expected && at.look(word) != *expected ? failed : ord;
	}
	u64 written(u64 word) const
	{
		return at.put(word, updated(by, at.look(word), operand)) & fits;
	}
};

/* A value, and whether a step's predicate ends the wait with it. */
struct verdict {
	u64 value;
	bool ends;
};

inline const verdict *find(const std::vector<verdict> &among, u64 value)
{
	for (const verdict &v : among)
		if (v.value == value)
			return &v;
	return nullptr;
}

inline void add(std::vector<verdict> &to, u64 value, bool ends)
{
	if (!find(to, value))
		to.push_back({value, ends});
}

/* A wait of a CPU that is blocked. */
struct wait {
	window at;
	hooked::test done;
	site where;
	unsigned location;
};

/* A wait in the tree. */
struct known_wait {
	window at;
	unsigned location;
	site where;
	std::vector<verdict> verdicts;
};

/* One CPU's last accesses to plain data: epochs, as in objects.hpp. */
struct last_access {
	u8 read = 0;
	u8 written = 0;
	u64 value = 0; /* that was written */
};

struct step {
	enum class does : u8 {
		unknown,
		read,
		write,
		fence,
		choose,
		read_plain,
		write_plain,
		block,
		drop, /* an assumption does not hold */
		end,
	};
	struct edge {
		u64 value;
		u32 to;
	};

	/* Fields that each walk reads come first, for the cache. */
	does what = does::unknown;
	u16 location = 0; /* in the graphs; of plain data: its number here */
	u64 value = 0;	  /* what is written; how many choices */
	/* The plain accesses before this step. */
	const std::vector<last_access> *accesses = nullptr;
	std::vector<edge> next;
	reading access{window{}, order::relaxed};
	u64 expected = 0;     /* the target of access.expected */
	hooked::test until{}; /* what access.until points to: the verdicts */
	std::vector<verdict> verdicts;

	/* block: the awaited location, and whether an interrupt may yet come */
	std::vector<known_wait> waits;
	unsigned irqs_left = 0;
	bool irqs_on = true;

	/* The next step if this value was read; 0: not known. */
	u32 after(u64 read) const
	{
		for (const edge &e : next)
			if (e.value == read)
				return e.to;
		return 0;
	}
};

struct learnt {
	/* A location; what it holds when a run begins. */
	struct known_location {
		const void *at = nullptr;
		usize bytes = 0;
		u64 initial = 0;
	};

	void forget();
	u32 root(unsigned cpu) const { return cpu + 1; }
	bool full() const { return steps.size() >= most_steps; }

	/* The step after `from` if it read `value`; makes it if it is new. */
	u32 went(u32 from, u64 value);

	/* went() after a plain access, which it adds to the history. */
	u32 accessed(u32 from, unsigned cpu_epoch, u64 value);

	void meet(unsigned location, const window &);

	/*
	 * The number of a plain object; none: it has two sizes, or is too
	 * large.
	 */
	static constexpr unsigned none = ~0u;
	unsigned plain_at(const void *at, usize bytes);

	last_access last(u32 at_step, unsigned plain) const
	{
		const auto &those = *steps[at_step].accesses;
		return plain < those.size() ? those[plain] : last_access{};
	}

	static constexpr usize most_steps = 1'000'000;

	std::deque<step> steps; /* the first is nobody's; then the roots */
	std::deque<std::vector<last_access>> accesses;
	std::vector<known_location> locations;
	std::vector<known_location> plains;

      private:
	std::unordered_map<const void *, unsigned> plain_numbers;
};

} // namespace model
