/* SPDX-License-Identifier: MIT */
/*
 * benches - each lock of the list and each mutant with its torture and storm
 */
#include "benches.hpp"

#include "report.hpp"

#include <boot/kernel.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

namespace lab {

namespace {

using namespace klock::selftest;

template <typename Subject>
constinit torture<Subject, most_cpus> torture_bench;
template <typename Subject>
constinit storm_of<Subject, most_cpus> storm_bench;

template <typename Base, typename Test>
lock_state state_of(const void *test)
{
	return describe(
		static_cast<const Test *>(static_cast<const Base *>(test))
			->watched());
}

template <typename Subject>
constexpr bench bench_of()
{
	bench b = {torture_bench<Subject>,
		   storm_bench<Subject>,
		   state_of<torture_run, torture<Subject, most_cpus>>,
		   state_of<storm, storm_of<Subject, most_cpus>>,
		   nullptr,
		   0};

	if constexpr (requires { Subject::mistake; }) {
		b.mistake = Subject::mistake;
		b.found_in = Subject::found_in;
	}
	return b;
}

template <typename List>
struct benches_of;
template <typename... Subjects>
struct benches_of<list<Subjects...>> {
	static constexpr bench rows[] = {bench_of<Subjects>()...};
};

template <typename List>
constexpr benches rows_of()
{
	return {benches_of<List>::rows, List::size};
}

} // namespace

benches all_benches() { return rows_of<all_locks<most_cpus>>(); }
benches busted_benches() { return rows_of<busted_locks>(); }

const bench &to_find(const bench &mutant)
{
	return asks_for(seeded::right_mutant) ? *all_benches().begin() : mutant;
}

watched watched_torture(const bench &b, unsigned cpus, stuck standstill)
{
	return {&b.torture,
		b.name(),
		cpus,
		[](const void *of) {
			return static_cast<const torture_run *>(of)->progress();
		},
		[](const void *of, unsigned cpu) {
			return static_cast<const torture_run *>(of)->what(cpu);
		},
		b.torture_state,
		standstill};
}

watched watched_storm(const storm &test, lock_state (*state)(const void *),
		      unsigned cpus, stuck standstill)
{
	return {&test,
		test.calls.name,
		cpus,
		[](const void *of) {
			return static_cast<const storm *>(of)->progress();
		},
		[](const void *of, unsigned cpu) {
			return static_cast<const storm *>(of)->what(cpu);
		},
		state,
		standstill};
}

result run_torture(const bench &b, const plan &p, stuck standstill)
{
	b.torture.prepare(p);
	run_watched(
		watched_torture(b, p.cpus, standstill),
		[](unsigned cpu, void *of) {
			static_cast<torture_run *>(of)->run(cpu);
		},
		&b.torture);
	return b.torture.outcome();
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
		 void (*one)(const options &, const bench &, u32 cpus))
{
	begin_report(o, o.counts * locks_asked_for(o));
	head(o);
	for (u32 i = 0; i < o.counts; i++)
		for (const bench &b : all_benches())
			if (asks_for(o, b.name()))
				one(o, b, o.cpus[i]);
	return end_report();
}

namespace {

void run_control(const options &o, search find)
{
	const options shorter = control_options(o);
	const char *wrong = nullptr;

	for (const bench &b : all_benches()) {
		const char *const found =
			find(b, shorter, stuck::is_control, 1);

		if (!found)
			continue;
		boot::print("# %s is right, and was found out: %s\n", b.name(),
			    found);
		wrong = "a right lock was found out";
	}
	note_row("control", wrong);
	boot::print("# control: %u right locks; longest stand-still %u ms\n",
		    all_benches().size, longest_stand_still());
	if (o.output == mode::table)
		boot::print("%-28s %s\n", "control", wrong ? wrong : "passed");
	print_verdict(o, "control", wrong);
}

} // namespace

int report_mutants(const options &o, search find, unsigned runs)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;

	begin_report(o, 1 + busted_benches().size);
	run_control(o, find);
	for (const bench &b : busted_benches())
		if (!(b.found_in & here))
			print_skipped(o, b.name(),
				      "cannot show on this machine");
		else
			print_busted_row(
				o, b.name(), b.mistake,
				find(to_find(b), o, stuck::is_meant, runs));
	return end_report();
}

} // namespace lab
