/* SPDX-License-Identifier: MIT */
/*
 * bounds - executions that are left out because they are far from the first
 *
 * In the first execution the CPUs run one after another, and each read finds
 * the newest write. The graph shows how far another execution is from it: by
 * the stamps, one knows the events that were there when an event was added. A
 * branch beyond the bounds is cut. Executions that only this branch leads to
 * are missed, and the result says so.
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
