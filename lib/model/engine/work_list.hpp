/* SPDX-License-Identifier: MIT */
/*
 * work_list - the graphs that are still to be explored, and the current one
 *
 * It is a stack: the newest graph is explored first. The memory of finished
 * graphs is used again.
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
	/* Begins an exploration: the list has the empty graph only. */
	void start(unsigned cpus, release_sequence);
	void clear() { stack.clear(); }

	/* The execution under way. */
	graph &running() const { return *under_way; }
	bool is_running() const { return under_way != nullptr; }
	/* Makes the graph on top the current one, and takes it off the
	 * stack. */
	void run_next();
	/* Makes this graph the current one; returns the one before. */
	some_graph run(some_graph other)
	{
		std::swap(under_way, other);
		return other;
	}

	/* The share that is done once the current graph is. */
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
	/* Drops the graphs above this number, unexplored. */
	void shrink_to(usize);
	/* Keeps every n-th graph, from that number on. */
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
