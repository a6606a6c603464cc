/* SPDX-License-Identifier: MIT */
/*
 * watchdog - says who waits for what when nobody gets on
 *
 * It looks from an NMI, so that it sees also CPUs that wait with interrupts
 * off. A CPU that spins in lock() cannot be had back: a stand-still of a sound
 * lock is the end, with a report; a busted lock's waits end when give_up is
 * set. The host's runner has a watchdog of its own, for a guest that is gone.
 */
#pragma once

#include "describe.hpp"

#include <klock/selftest/torture.hpp>

namespace lab {

/* What becomes of a run that stands still: an end with a report, or its end. */
enum class stuck { is_a_bug, is_meant };

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
