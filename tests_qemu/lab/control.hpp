/* SPDX-License-Identifier: MIT */
/*
 * control - what finds the locks that are wrong must pass those that are right
 *
 * The first row of run=busted and run=busted_storm. It is also where the
 * watchdog learns how long the right locks stand still on this machine today.
 */
#pragma once

#include "benches.hpp"
#include "report.hpp"

namespace lab {

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

/* find(bench, options): what is found wrong with it, or null. */
void run_control(const options &o,
		 const char *(*find)(const bench &b, const options &shorter));

} // namespace lab
