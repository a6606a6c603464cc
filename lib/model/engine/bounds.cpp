/* SPDX-License-Identifier: MIT */
/*
 * bounds - executions that are left out because they are far from the first
 *
 * In the first execution the CPUs run one after another, and each read finds
 * the newest write. How far another is from it can be told from the graph: the
 * stamps say what was there when an event was added. A branch beyond the bounds
 * is cut; executions that only it leads to are missed, and that is said.
 */
#include "checker.hpp"

namespace model {

namespace {

/* Whether a write behind this position was there before the event. */
bool was_newer(const graph &g, const event &e)
{
	for (unsigned p = g.position(e) + 1; p <= g.last(e.place); p++)
		if (g.at(g.write_at(e.place, p)).stamp < e.stamp)
			return true;
	return false;
}

} // namespace

bool checker::within_bounds(const graph &x)
{
	unsigned preempted = 0, reordered = 0;

	if (!how->bounded())
		return true;
	for (unsigned c = 0; c < x.cpus; c++) {
		for (const event &e : x.sb[c]) {
			if (e.what != kind::read && e.what != kind::write)
				continue;
			if (e.what == kind::read && !e.from.initial() &&
			    x.at(e.from).stamp > e.stamp)
				preempted++;
			else
				reordered += was_newer(x, e);
		}
	}
	if (preempted <= how->preemptions && reordered <= how->max_reorder)
		return true;
	out.left_out++;
	return false;
}

} // namespace model
