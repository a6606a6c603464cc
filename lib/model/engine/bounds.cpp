/* SPDX-License-Identifier: MIT */
#include "bounds.hpp"

namespace model {

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
				reordered += x.was_newer(e);
		}
	}
	if (preempted <= task.given->preemptions &&
	    reordered <= task.given->max_reorder)
		return true;
	task.out.left_out++;
	return false;
}

} // namespace model
