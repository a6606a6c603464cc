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
	attempts(unsigned runs, stuck standstill)
	    : runs_left(runs),
	      left(standstill == stuck::is_meant ? runs * attempts_a_run : runs)
	{
	}

	bool are_left() const { return runs_left && left; }

	void note(const result &r)
	{
		constexpr u64 often_enough = 16; /* one section in so many */

		left--;
		if ((r.handoffs - r.forced) * often_enough >= r.acquisitions)
			runs_left--;
	}

      private:
	unsigned runs_left;
	unsigned left;
};

/* find(bench, options): what is found wrong with it, or null. */
void run_control(const options &o,
		 const char *(*find)(const bench &b, const options &shorter));

} // namespace lab
