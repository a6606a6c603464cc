/* SPDX-License-Identifier: MIT */
/*
 * Would another lock serve the driver better on a machine with 64 CPUs?
 */
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <sim/measure.hpp>

#include <stdio.h>

int main()
{
	using driver_lock = klock::ticket_lock<klock::u16>;
	const sim::workload load = {.cpus = 64};
	const double ticket =
		sim::measure<driver_lock>("ticket", sim::xeon_8180, load)
			.misses;
	const double mcs =
		sim::measure<klock::mcs_lock>("mcs", sim::xeon_8180, load)
			.misses;

	if (mcs <= 0 || ticket <= 4 * mcs)
		return 1;
	printf("64 CPUs: mcs_lock saves three of four cache misses, or more\n");
	return 0;
}
