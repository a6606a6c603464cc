/* SPDX-License-Identifier: MIT */
/*
 * work_list - the graphs that are still to be explored, and the one that is
 *
 * A stack: the youngest is explored first. Graphs that are done lend their
 * memory to new ones.
 */
#pragma once

#include "graph.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace model {

using klock::usize;
using some_graph = std::unique_ptr<graph>;

struct work_list {
	/* Begins an exploration: all that is to be done is the empty graph. */
	void start(unsigned cpus, release_sequence);
	void clear() { stack.clear(); }

	/* The execution under way. */
	graph &running() const { return *under_way; }
	bool is_running() const { return under_way != nullptr; }
	/* Makes it the one on top, which leaves the stack. */
	void run_next();
	/* Makes it this one; returns the one that it was. */
	some_graph run(some_graph other)
	{
		std::swap(under_way, other);
		return other;
	}

	/* The share of what is done, once the one under way is. */
	void divide_share(usize below, double all);
	/* The share of the exploration that is done, by estimate. */
	double share_done() const { return done; }
	void forget_share() { done = 0; }

	some_graph make()
	{
		if (spare.empty())
			return std::make_unique<graph>();

		some_graph one = std::move(spare.back());
		spare.pop_back();
		return one;
	}
	some_graph copy(const graph &from)
	{
		some_graph one = make();

		*one = from;
		return one;
	}
	void recycle(some_graph &&old) { spare.push_back(std::move(old)); }

	void push(some_graph &&one) { stack.push_back(std::move(one)); }
	/* Takes away, and does not explore, what is above so many. */
	void shrink_to(usize);
	/* Keeps every so-manieth graph, from that number on. */
	void keep_part(usize number, usize of);
	graph &top() { return *stack.back(); }
	/* The one at the bottom; it stays. */
	const graph &lowest() const { return *stack.front(); }
	void drop_lowest();
	void swap(std::vector<some_graph> &others) { stack.swap(others); }

	bool empty() const { return stack.empty(); }
	usize size() const { return stack.size(); }

      private:
	some_graph under_way;
	std::vector<some_graph> stack;
	std::vector<some_graph> spare;
	double done = 0;
};

} // namespace model
