/* SPDX-License-Identifier: MIT */
#include "consistency.hpp"

namespace model {

unsigned floor(const graph &g, unsigned place, const clock &seen)
{
	const unsigned newest = g.last(place);
	unsigned lowest = 0;

	if (!newest || seen.has(g.write_at(place, newest)))
		return newest;
	for (unsigned cpu = 0; cpu < g.cpus; cpu++) {
		/* The latest access that is seen: the earlier are below it. */
		for (unsigned i = seen.at[cpu]; i-- > 0;) {
			const event &e = g.sb[cpu][i];
			if (e.place != place ||
			    (e.what != kind::read && e.what != kind::write))
				continue;
			const unsigned position = g.position(e);
			if (position > lowest)
				lowest = position;
			break;
		}
	}
	return lowest;
}

} // namespace model
