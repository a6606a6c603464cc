/* SPDX-License-Identifier: MIT */
/*
 * machine - what the lab measures of the machine before it measures locks
 */
#pragma once

#include <klock/calibrate.hpp>

namespace lab {

/*
 * The CPU's name and microcode, how many CPUs, cores and packages, how many of
 * each kind where there are several, whether the clock's rate ever changes.
 * Until the next call. Called by CPU 0, no other at work.
 */
const char *machine_line();

/* Prints machine_line(). */
void print_machine();

/* boot::cpu_kind() of another CPU; after machine_line(). */
const char *kind_of(unsigned cpu);

/*
 * Calibrates (klock/calibrate.hpp) on CPUs 0 and 1; with one CPU, the pause
 * alone. Prints the result as the head of what comes. Called by CPU 0, no other
 * at work.
 */
klock::calibration measure_machine();

/*
 * One handoff of a line between CPUs 0 and 1, in cycles, as it was measured
 * last: no lock hands over sooner. 0: nothing was measured, or one CPU is all.
 */
klock::u32 handoff_floor();

/*
 * Whether a time is long enough to be one: a hundred steps of the clock, where
 * boot has found these too long to measure a lock by.
 */
[[nodiscard]] bool is_measured(klock::u64 ns);

/*
 * Returns the cycles of one cpu_relax() while so many CPUs pause. If all CPUs
 * of the machine run, that is the time of one alone. If vCPUs take turns at one
 * host core, each pause is a turn of all others.
 */
klock::u32 relax_among(unsigned cpus);

} // namespace lab
