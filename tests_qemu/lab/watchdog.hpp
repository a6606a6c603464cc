/* SPDX-License-Identifier: MIT */
/*
 * watchdog - says who waits for what when nobody gets on
 *
 * It looks from an NMI, so that it sees also CPUs that wait with interrupts
 * off; where there are none, from the pauses of CPUs that wait (nmi.hpp). A CPU
 * that spins in lock() cannot be had back: a stand-still of a sound lock is the
 * end, with a report; a mutant's waits end when give_up is set, and how long
 * that takes follows a control in the same run. The host's runner has a
 * watchdog of its own, for a guest that is gone.
 */
#pragma once

#include "describe.hpp"

#include <klock/selftest/torture.hpp>

namespace lab {

/* What becomes of a run that stands still. */
enum class stuck {
	is_a_bug,   /* the end, with a report */
	is_control, /* its own end: a right lock, as is_meant would have it */
	is_meant, /* the same, when it takes much longer than the control did */
};

/* A test without its type. */
struct watched {
	const void *test;
	const char *lock;
	unsigned cpus;
	klock::u32 (*progress)(const void *);
	klock::selftest::doing (*what)(const void *, unsigned);
	lock_state (*state)(const void *);
	stuck standstill;
};

/* How long a stand-still of a sound lock is borne. */
void set_patience(klock::u32 ms);

/* Whether anybody looks; says why if not. CPU 0, thread. */
bool has_watchdog();

/* Of all runs of the control: milliseconds, about, in which all CPUs ran. */
[[nodiscard]] klock::u32 longest_stand_still();

void start_watching(const watched &what);
void stop_watching();

/* Any test that has progress(), what() and watched(). */
template <typename Test>
watched watched_test(const Test &test, const char *lock, unsigned cpus,
		     stuck standstill)
{
	return {&test,
		lock,
		cpus,
		[](const void *of) {
			return static_cast<const Test *>(of)->progress();
		},
		[](const void *of, unsigned cpu) {
			return static_cast<const Test *>(of)->what(cpu);
		},
		[](const void *of) {
			return describe(
				static_cast<const Test *>(of)->watched());
		},
		standstill};
}

} // namespace lab
