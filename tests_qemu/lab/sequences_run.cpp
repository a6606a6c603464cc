/* SPDX-License-Identifier: MIT */
/*
 * sequences_run - each trial under faults, one row each; then the wrong ones
 */
#include "options.hpp"

#include "sequences.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <klock/selftest/busted.hpp>
#include <klock/selftest/busted_sequences.hpp>

namespace lab {

namespace {

using klock::selftest::seq_mistake;

template <typename What>
inline constinit trial<What> trial_bench{};

/* The busted one that an NMI handler may read: it never waits. */
template <seq_mistake Mistake>
struct wrong_lock : klock::selftest::busted_seq_lock<words, Mistake> {
	static constexpr bool read_never_waits =
		Mistake == seq_mistake::reads_while_odd;
};

template <typename What>
[[gnu::noinline]] trial_result try_once(const char *name, const options &o,
					u32 cpus, u32 seed, stuck standstill)
{
	auto &t = trial_bench<What>;

	t.prepare(cpus, 1 + o.acquisitions / cpus, seed);
	prepare_faults(
		cpus, seed,
		{[](unsigned cpu) { trial_bench<What>.look(by_handler, cpu); },
		 [](unsigned cpu) { trial_bench<What>.look(by_nmi, cpu); },
		 [] { return trial_bench<What>.progress(); }});
	run_watched(t, name, cpus, standstill, [&](unsigned cpu) {
		begin_faults(cpu);
		t.run(cpu);
		end_faults(cpu);
	});
	return t.outcome();
}

void print_row(const options &o, const char *name, u32 cpus,
	       const trial_result &r, const fault_counts &came)
{
	const char *const found = fault(r);
	const char *const wrong = found ? found : missed(r);

	note_row(name, wrong);
	if (o.output == mode::tap)
		boot::print("# %s: cpus %u, looks %u (handlers %u, NMIs %u), "
			    "wrong %u, lost %u, timer %u, IPIs %u, NMIs %u, "
			    "stalls %u%s%s\n",
			    name, cpus, r.looks[by_thread], r.looks[by_handler],
			    r.looks[by_nmi], r.wrong, r.lost, came.timer,
			    came.ipi, came.nmi, came.stalls, wrong ? ": " : "",
			    wrong ? wrong : "");
	else
		boot::print("%-*s %4u %12u %10u %6u %6u%s%s\n", name_width(o),
			    name, cpus, r.looks[by_thread], came.interrupts(),
			    came.nmi, r.wrong + r.lost, wrong ? "\n  " : "",
			    wrong ? wrong : "");
	print_verdict(o, name, wrong);
}

template <typename What>
void try_one(const char *name, const options &o, u32 cpus)
{
	say_running(o, name);
	const trial_result r =
		try_once<What>(name, o, cpus, o.seed, stuck::is_a_bug);
	const fault_counts came = faults_so_far();

	all_totals.acquisitions += r.looks[by_thread] + r.looks[by_handler];
	all_totals.interrupts += came.interrupts();
	all_totals.nmis += came.nmi;
	all_totals.faults += came.stalls;
	print_row(o, name, cpus, r, came);
}

/* One run after another until the mistake shows, or not within the bound. */
template <seq_mistake Mistake>
void find(const char *name, const char *mistake, unsigned where,
	  const options &o)
{
	using namespace klock::selftest;
	const unsigned here = o.parallel ? in_parallel : in_turns;
	const char *found = nullptr;
	const auto try_it =
		asks_for(seeded::right_mutant)
			? try_once<seq_trial<klock::seq_lock<words>>>
			: try_once<seq_trial<wrong_lock<Mistake>>>;

	if (!(where & here)) {
		print_skipped(o, name, "cannot show on this machine");
		return;
	}
	for (u32 run = 0; run < busted_storm_runs && !found; run++)
		found = fault(try_it(name, o, o.cpus[0], o.seed + run,
				     stuck::is_meant));
	print_busted_row(o, name, mistake, found);
}

void find_wrong_ones(const options &o)
{
	using namespace klock::selftest;

	find<seq_mistake::no_second_look>("no_second_look",
					  "whatever was read is returned",
					  in_turns | in_parallel, o);
	find<seq_mistake::reads_while_odd>("reads_while_odd",
					   "begins in the middle of a write",
					   in_turns | in_parallel, o);
	find<seq_mistake::two_writers_enter>(
		"two_writers_enter", "no compare-and-swap", in_parallel, o);
}

} // namespace

int run_sequences(const options &o)
{
	constexpr unsigned right = 5, wrong = 3;

	begin_report(o, o.counts * right + wrong);
	if (o.output == mode::table)
		boot::print("\n%-*s %4s %12s %10s %6s %6s\n", name_width(o), "",
			    "CPUs", "looks", "interrupts", "NMIs", "errors");
	for (u32 i = 0; i < o.counts; i++) {
		const u32 cpus = o.cpus[i];

		try_one<seq_trial<klock::seq_lock<words>>>("seq_lock", o, cpus);
		try_one<latch_trial>("seq_latch", o, cpus);
		try_one<once_trial>("once", o, cpus);
		try_one<barrier_trial>("spin_barrier", o, cpus);
		try_one<handlers_read_trial>("irq_shared_lock", o, cpus);
	}
	find_wrong_ones(o);
	return end_report();
}

} // namespace lab
