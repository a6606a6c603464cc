/* SPDX-License-Identifier: MIT */
/*
 * runner - the lab's CPUs play the CPUs of a self-test
 */
#pragma once

#include "options.hpp"
#include "watchdog.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/torture.hpp>

namespace lab {

using klock::selftest::participants;
using klock::selftest::plan;
using klock::selftest::result;

/* Returns the plan that the options ask for, with so many CPUs. */
inline plan plan_for(const options &o, u32 cpus, u32 convoys)
{
	return {.cpus = cpus,
		.convoys = convoys,
		.sections = o.acquisitions,
		.relaxes_a_word = o.pauses,
		.relaxes_outside = o.rest,
		.try_one_in = o.try_one_in,
		.seed = o.seed};
}

inline plan plan_for(const options &o, u32 cpus)
{
	return plan_for(o, cpus, o.convoys);
}

/* Calls run(cpu, of) on what.cpus CPUs, under the watchdog's eyes. */
inline void run_watched(const watched &what,
			void (*run)(unsigned cpu, void *of), void *of)
{
	klock::selftest::give_up = false;
	start_watching(what);
	boot::run_on_cpus(what.cpus, run, of);
	stop_watching();
}

/* run_watched() for any test that watched_test() takes; calls run(cpu). */
template <typename Test, typename Run>
void run_watched(const Test &test, const char *lock, unsigned cpus,
		 stuck standstill, Run run)
{
	run_watched(
		watched_test(test, lock, cpus, standstill),
		[](unsigned cpu, void *of) { (*static_cast<Run *>(of))(cpu); },
		&run);
}

} // namespace lab
