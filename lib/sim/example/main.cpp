/* SPDX-License-Identifier: MIT */
/*
 * A lock of one's own on a machine of one's own, beside two of klock's.
 */
#include "my_lock.hpp"

#include <sim/table.hpp>

#include <klock/mcs_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>

#include <cstdio>
#include <vector>

/* A small server: its figures by your own measurement, in its cycles. */
constexpr sim::machine my_machine = {
	.name = "my_machine",
	.sockets = 1,
	.hit = 4,
	.rmw = 12,
	.fence = 30,
	.pause = 45,
	.memory = 300,
	.invalidate = 2,
	.next_copy = 10,
	.near = {.owned = 90, .shared = 70},
	.far = {.owned = 90, .shared = 70},
};

int main()
{
	std::vector<sim::figures> rows;

	for (unsigned cpus : {2u, 8u, 32u, 128u}) {
		const sim::workload load = {.cpus = cpus, .inside = 300};

		rows.push_back(
			sim::measure<my_lock>("my_lock", my_machine, load));
		rows.push_back(sim::measure<klock::mcs_lock>("mcs_lock",
							     my_machine, load));
		rows.push_back(sim::measure<
			       klock::proportional_ticket_lock<klock::u32>>(
			"proportional", my_machine, load));
	}
	std::printf("%s", sim::text(rows).c_str());
	for (const sim::figures &f : rows)
		if (!f.stuck.empty() || f.overlaps != 0)
			return 1;
	return 0;
}
