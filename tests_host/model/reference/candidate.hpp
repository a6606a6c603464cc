/* SPDX-License-Identifier: MIT */
/*
 * candidate - events, who reads what, and the orders of the writes: perhaps an
 * execution
 */
#pragma once

#include "rc11.hpp"
#include "relation.hpp"

namespace reference {

enum class type { read, write, fence };

struct event {
	type what;
	int thread; /* -1: initial write */
	unsigned location;
	order ord;
	u64 value = 0;
	bool known = false;
	bool there = true; /* a compare-and-swap's write may not be */
	const op *by = nullptr;
	int half = -1; /* an RMW's other half */
	int pair = -1; /* of a pair's second read: the first */
	int from = -1; /* a read's write */
};

struct candidate {
	std::vector<event> events;
	std::vector<std::vector<int>> mo; /* of each location, initial first */

	bool consistent(release_sequence, sc_axiom, causality) const;
	bool has(machine) const;

	/* [A], for the events of which test holds */
	template <typename Test>
	relation only(Test test) const
	{
		relation r;
		for (unsigned i = 0; i < events.size(); i++)
			if (events[i].there && test(events[i]))
				r.add(i, i);
		return r;
	}
	/* pairs for which test holds */
	template <typename Test>
	relation pairs(Test test) const
	{
		relation r;
		for (unsigned i = 0; i < events.size(); i++)
			for (unsigned j = 0; j < events.size(); j++)
				if (i != j && events[i].there &&
				    events[j].there &&
				    test(events[i], events[j], i, j))
					r.add(i, j);
		return r;
	}
};

} // namespace reference
