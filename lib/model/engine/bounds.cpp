/* SPDX-License-Identifier: MIT */
#include "bounds.hpp"

namespace model {

namespace {

/* Whether a write above this position was there before the event. */
bool was_newer(const graph &g, const event &e)
{
	for (unsigned p = g.position(e) + 1; p <= g.last(e.location); p++)
		if (g.at(g.write_at(e.location, p)).stamp < e.stamp)
			return true;
	return false;
}

} // namespace

bool bounds::measure(const graph &x)
{
	unsigned preempted = 0, reordered = 0;

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
	if (preempted <= task.given->preemptions &&
	    reordered <= task.given->max_reorder)
		return true;
	task.out.left_out++;
	return false;
}

} // namespace model
