/* SPDX-License-Identifier: MIT */
/*
 * totals - what a whole run has done, in one line that scripts add up
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

struct totals {
	klock::u64 acquisitions = 0;
	klock::u64 wraps = 0;	   /* of ticket counters, about */
	klock::u64 interrupts = 0; /* timer, IPI; without the watchdog's */
	klock::u64 nmis = 0;
	klock::u64 faults = 0; /* stalls, halts, CPUs that left */
	klock::u64 errors = 0;
};

inline constinit totals all_totals;

/*
 * Counts one lock's critical sections, and how often they took its tickets
 * round: locks whose room is a power of two of at most 16 bits count that far.
 */
void add_sections(klock::u64 sections, klock::u64 capacity);

/* "# totals: acquisitions=... wraps=..." */
void print_totals();

} // namespace lab
