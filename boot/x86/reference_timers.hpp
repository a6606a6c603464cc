/* SPDX-License-Identifier: MIT */
/*
 * reference_timers - counters of known frequency, to measure the time-stamp
 * counter by (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

struct loader_info;

struct reference_timer {
	const char *name; /* "the 8254" */
	u64 hz;
	u32 mask; /* what it counts up to, and wraps there */
	void (*start)();
	u32 (*count)(); /* upwards */

	/* Whether it has counted to its end since start(); null: no saying. */
	bool (*has_run_out)();
};

/*
 * Looks for the timers that ACPI names, once; before it, there is only the
 * 8254.
 */
void find_reference_timers(const loader_info &loader);

/* Gets a timer by its number, the best first; false: there are no more. */
bool get_reference_timer(unsigned number, reference_timer &timer);

/* -- The 8254: channel 2 for measurements, channel 0 for interrupts -- */

/* 14.31818 MHz / 12 */
inline constexpr u32 pit_hz = 1'193'182;

/*
 * Channel 0 raises the ISA's interrupt 0 every so many ticks, 2 to 65536.
 * False: there is none that counts.
 */
[[nodiscard]] bool pit_start_periodic(u32 ticks);

} // namespace boot
