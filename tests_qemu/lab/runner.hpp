/* SPDX-License-Identifier: MIT */
/*
 * runner - the lab's CPUs play the CPUs of a self-test
 */
#pragma once

#include "options.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/torture.hpp>

namespace lab {

using klock::selftest::participants;
using klock::selftest::plan;
using klock::selftest::result;
using klock::selftest::torture;

/* CPUs that the lab's locks are made for: boot's most. */
inline constexpr unsigned most_cpus = boot::max_cpus;

/* What becomes of a run that stands still: an end with a report, or its end. */
enum class stuck { is_a_bug, is_meant };

/* A torture without its type, for the watchdog. */
struct watched {
	void *test;
	const char *lock;
	unsigned cpus;
	u32 (*progress)(const void *);
	klock::selftest::doing (*what)(const void *, unsigned);
	stuck standstill;
};

/* From now on CPU 0's timer looks whether somebody gets on. */
void start_watchdog(const watched &what);
void stop_watchdog();

/* One torture a lock, all their lives: kernels have no heap. */
template <typename Subject>
inline constinit torture<Subject, most_cpus> bench;

template <typename Subject>
plan plan_for(const options &o)
{
	return {.cpus = participants<Subject>(o.cpus),
		.convoys = o.convoys,
		.sections = o.acquisitions,
		.relaxes_a_word = o.section,
		.relaxes_outside = o.outside,
		.try_one_in = o.try_one_in,
		.seed = o.seed};
}

/* Runs the torture of one lock on as many CPUs as the plan says. */
template <typename Subject>
result run_torture(const plan &p, stuck standstill = stuck::is_a_bug)
{
	using test = torture<Subject, most_cpus>;
	test &t = bench<Subject>;

	klock::selftest::give_up = false;
	t.prepare(p);
	start_watchdog(
		{&t, Subject::name, p.cpus,
		 [](const void *of) {
			 return static_cast<const test *>(of)->progress();
		 },
		 [](const void *of, unsigned cpu) {
			 return static_cast<const test *>(of)->what(cpu);
		 },
		 standstill});
	boot::run_on_cpus(
		p.cpus,
		[](unsigned cpu, void *of) {
			static_cast<test *>(of)->run(cpu);
		},
		&t);
	stop_watchdog();
	return t.outcome();
}

} // namespace lab
