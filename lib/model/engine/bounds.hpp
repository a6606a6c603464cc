/* SPDX-License-Identifier: MIT */
/*
 * bounds - executions that are left out because they are far from the first
 *
 * In the first execution the CPUs run one after another, and each read finds
 * the newest write. How far another is from it can be told from the graph: the
 * stamps say what was there when an event was added. A branch beyond the bounds
 * is cut; executions that only it leads to are missed, and that is said.
 */
#pragma once

#include "exploration.hpp"
#include "graph.hpp"

namespace model {

struct bounds {
	explicit bounds(exploration &of) : task(of) {}

	/* Counts the graph as left out, if it is beyond them. */
	bool allow(const graph &g)
	{
		return (task.given->preemptions == unbounded &&
			task.given->max_reorder == unbounded) ||
		       measure(g);
	}

      private:
	bool measure(const graph &);

	exploration &task;
};

} // namespace model
