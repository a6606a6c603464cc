/* SPDX-License-Identifier: MIT */
/*
 * lock_tests - each lock of the list and each mutant with its torture and storm
 */
#include "lock_tests.hpp"

#include "report.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

namespace lab {

namespace {

using namespace klock::selftest;

template <typename Subject>
constinit torture<Subject, most_cpus> the_torture;
template <typename Subject>
constinit storm_of<Subject, most_cpus> the_storm;

template <typename Subject>
constexpr lock_tests tests_of()
{
	lock_tests lock = {the_torture<Subject>,
			   the_storm<Subject>,
			   state_of<torture_run, torture<Subject, most_cpus>>,
			   state_of<storm, storm_of<Subject, most_cpus>>,
			   nullptr,
			   0};

	if constexpr (requires { Subject::mistake; }) {
		lock.mistake = Subject::mistake;
		lock.found_in = Subject::found_in;
	}
	return lock;
}

template <typename List>
struct rows_of_list;
template <typename... Subjects>
struct rows_of_list<list<Subjects...>> {
	static constexpr lock_tests rows[] = {tests_of<Subjects>()...};
};

template <typename List>
constexpr lock_test_list rows_of()
{
	return {rows_of_list<List>::rows, List::size};
}

} // namespace

lock_test_list tests_of_all() { return rows_of<all_locks<most_cpus>>(); }
lock_test_list tests_of_busted() { return rows_of<busted_locks>(); }

const lock_tests &to_find(const lock_tests &mutant)
{
	return asks_for(seeded::right_mutant) ? *tests_of_all().begin()
					      : mutant;
}

result run_torture(const lock_tests &lock, const plan &p, stuck standstill)
{
	lock.torture.prepare(p);
	run_watched(
		watched_test(lock.torture, lock.name(), p.cpus,
			     lock.torture_state, standstill),
		[](unsigned cpu, void *of) {
			static_cast<torture_run *>(of)->run(cpu);
		},
		&lock.torture);
	return lock.torture.outcome();
}

namespace {

/*
 * A right lock is never found out early: it takes its whole run, and where two
 * vCPUs share busy cores each handoff of a FIFO lock takes a time slice.
 */
options control_options(options o)
{
	o.acquisitions = o.acquisitions / 10 + 100;
	return o;
}

} // namespace

int report_locks(const options &o, void (*head)(const options &),
		 void (*one)(const options &, const lock_tests &, u32 cpus))
{
	begin_report(o, o.counts * locks_asked_for(o));
	head(o);
	for (u32 i = 0; i < o.counts; i++)
		for (const lock_tests &lock : tests_of_all())
			if (asks_for(o, lock.name()))
				one(o, lock, o.cpus[i]);
	return end_report();
}

namespace {

void run_control(const options &o, search find)
{
	const options shorter = control_options(o);
	const char *wrong = nullptr;

	for (const lock_tests &lock : tests_of_all()) {
		const char *const found =
			find(lock, shorter, stuck::is_control, 1);

		if (!found)
			continue;
		boot::print("# %s is right, and was found out: %s\n",
			    lock.name(), found);
		wrong = "a right lock was found out";
	}
	note_row("control", wrong);
	boot::print("# control: %u right locks; longest stand-still %u ms\n",
		    tests_of_all().size, longest_stand_still());
	if (o.output == mode::table)
		boot::print("%-28s %s\n", "control", wrong ? wrong : "passed");
	print_verdict(o, "control", wrong);
}

} // namespace

int report_mutants(const options &o, search find, unsigned runs)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;

	begin_report(o, 1 + tests_of_busted().size);
	run_control(o, find);
	for (const lock_tests &lock : tests_of_busted())
		if (!(lock.found_in & here))
			print_skipped(o, lock.name(),
				      "cannot show on this machine");
		else
			print_busted_row(
				o, lock.name(), lock.mistake,
				find(to_find(lock), o, stuck::is_meant, runs));
	return end_report();
}

} // namespace lab
