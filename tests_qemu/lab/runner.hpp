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
using klock::selftest::torture;

/* CPUs that the lab's locks are made for: boot's most. */
inline constexpr unsigned most_cpus = boot::max_cpus;

/* One torture a lock, all their lives: kernels have no heap. */
template <typename Subject>
inline constinit torture<Subject, most_cpus> bench;

template <typename Subject>
plan plan_for(const options &o, u32 cpus)
{
	return {.cpus = participants<Subject>(cpus),
		.convoys = o.convoys,
		.sections = o.acquisitions,
		.relaxes_a_word = o.pauses,
		.relaxes_outside = o.rest,
		.try_one_in = o.try_one_in,
		.seed = o.seed};
}

/* Calls run(cpu) on so many CPUs, under the watchdog's eyes. */
template <typename Test, typename Run>
void run_watched(const Test &test, const char *lock, unsigned cpus,
		 stuck standstill, Run run)
{
	klock::selftest::give_up = false;
	start_watching(watched_test(test, lock, cpus, standstill));
	boot::run_on_cpus(
		cpus,
		[](unsigned cpu, void *of) { (*static_cast<Run *>(of))(cpu); },
		&run);
	stop_watching();
}

/* Runs the torture of one lock on as many CPUs as the plan says. */
template <typename Subject>
[[gnu::noinline]] result run_torture(const plan &p,
				     stuck standstill = stuck::is_a_bug)
{
	auto &t = bench<Subject>;

	t.prepare(p);
	run_watched(t, Subject::name, p.cpus, standstill,
		    [&](unsigned cpu) { t.run(cpu); });
	return t.outcome();
}

} // namespace lab
