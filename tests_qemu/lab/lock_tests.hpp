/* SPDX-License-Identifier: MIT */
/*
 * lock_tests - each lock of the list and each mutant with its torture and storm
 *
 * One torture and one storm a lock, all their lives: kernels have no heap. What
 * has the locks' types in it is compiled in lock_tests.cpp alone.
 */
#pragma once

#include "report.hpp"
#include "runner.hpp"
#include "storm.hpp"

namespace lab {

using klock::selftest::torture_run;

struct lock_tests {
	torture_run &torture;
	lab::storm &storm;
	lock_state (*torture_state)(const void *torture);
	lock_state (*storm_state)(const void *storm);
	const char *mistake; /* a mutant's */
	unsigned found_in;

	[[nodiscard]] const char *name() const { return torture.calls.name; }
	/* `cpus`, or the lock's capacity if that is less. */
	[[nodiscard]] unsigned room_for(u32 cpus) const
	{
		const u64 room = torture.calls.capacity;

		return cpus < room ? cpus : static_cast<unsigned>(room);
	}
};

/* The tests of all locks, in the order of the lists of locks. */
struct lock_test_list {
	const lock_tests *first;
	unsigned size;

	const lock_tests *begin() const { return first; }
	const lock_tests *end() const { return first + size; }
};

[[nodiscard]] lock_test_list tests_of_all();
[[nodiscard]] lock_test_list tests_of_busted();

/* Returns the mutant; with fault=right_mutant, a lock that is right. */
[[nodiscard]] const lock_tests &to_find(const lock_tests &mutant);

/* Runs the torture of one lock on as many CPUs as the plan says. */
result run_torture(const lock_tests &lock, const plan &p,
		   stuck standstill = stuck::is_a_bug);

/*
 * How often a mutant may pass. A run in which hardly a section came after
 * another CPU's shows nothing: the host has run one vCPU, then the other. It is
 * made again, up to so many times in all.
 */
struct attempts {
	attempts(const options &o, unsigned runs, stuck standstill)
	    : asked(o.rest), at_once(o.parallel), runs_left(runs),
	      left(standstill == stuck::is_meant ? runs * attempts_a_run : runs)
	{
	}

	bool are_left() const { return runs_left && left; }

	/*
	 * The next one's rest between two sections. What a pause costs is the
	 * machine's affair, where vCPUs run at once: with too short a rest one
	 * CPU always waits, and two never arrive together, as a mistake at the
	 * door needs; with a long one they hardly ever meet. So each is tried.
	 */
	u32 rest() const
	{
		constexpr u32 longer[] = {1, 8, 32};

		return at_once ? asked * longer[made % 3] : asked;
	}

	void note(const result &r)
	{
		constexpr u64 often_enough = 16; /* one section in so many */

		left--;
		made++;
		if ((r.handoffs - r.forced) * often_enough >= r.acquisitions)
			runs_left--;
	}

      private:
	u32 asked;
	bool at_once;
	unsigned made = 0;
	unsigned runs_left;
	unsigned left;
};

/*
 * Calls head(o), and one(o, lock_tests, CPUs) for each lock asked for, on each
 * number of CPUs; returns the exit status.
 */
int report_locks(const options &o, void (*head)(const options &),
		 void (*one)(const options &, const lock_tests &, u32 cpus));

/* Returns the mistake that so many runs show, or null. */
using search = const char *(const lock_tests &, options, stuck, unsigned runs);

/*
 * run=busted and run=busted_storm: every mutant must be found. The first row is
 * the right locks, which must pass. There the watchdog also learns how long
 * they stand still on this machine today. Returns the exit status.
 */
int report_mutants(const options &o, search find, unsigned runs);

} // namespace lab
