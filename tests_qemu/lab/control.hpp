/* SPDX-License-Identifier: MIT */
/*
 * control - what finds the locks that are wrong must pass those that are right
 *
 * The first row of run=busted and run=busted_storm. It is also where the
 * watchdog learns how long the right locks stand still on this machine today.
 */
#pragma once

#include "report.hpp"
#include "runner.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/locks.hpp>

namespace lab {

/*
 * A right lock is never found out early: it takes its whole run, and where two
 * vCPUs share busy cores each handoff of a FIFO lock takes a time slice.
 */
inline options control_options(options o)
{
	o.acquisitions = o.acquisitions / 10 + 100;
	return o;
}

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

/* find.operator()<Subject>(options): what is found wrong with it, or null. */
template <typename Find>
void run_control(const options &o, Find find)
{
	using locks = klock::selftest::all_locks<most_cpus>;
	const options shorter = control_options(o);
	const char *wrong = nullptr;

	locks::for_each([&]<typename Subject>() {
		const char *const found =
			find.template operator()<Subject>(shorter);

		if (!found)
			return;
		boot::print("# %s is right, and was found out: %s\n",
			    Subject::name, found);
		wrong = "a right lock was found out";
	});
	note_row("control", wrong);
	boot::print("# control: %u right locks; longest stand-still %u ms\n",
		    locks::size, longest_stand_still());
	if (o.output == mode::table)
		boot::print("%-28s %s\n", "control", wrong ? wrong : "passed");
	print_verdict(o, "control", wrong);
}

} // namespace lab
