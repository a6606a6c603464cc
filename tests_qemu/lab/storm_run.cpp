/* SPDX-License-Identifier: MIT */
/*
 * storm_run - each lock three times under faults, one row each
 *
 * 1. The torture, in which order and exclusion can be seen exactly; interrupts
 *    only come, NMIs try the lock.
 * 2. The storm in which handlers take the lock.
 * 3. The storm in which holders HLT.
 */
#include "storm_run.hpp"

#include "report.hpp"
#include "runner.hpp"
#include "storm.hpp"
#include "totals.hpp"

#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

namespace lab {

namespace {

using namespace klock::selftest;

template <typename Subject>
inline constinit storm<Subject, most_cpus> storm_bench;

/* Where NMI handlers try the lock, each CPU contends twice. */
template <typename Subject>
unsigned storm_cpus(u32 cpus)
{
	constexpr u64 contexts =
		klock::try_lockable<typename Subject::lock> ? 2 : 1;
	constexpr u64 room = Subject::capacity / contexts;

	return cpus < room ? cpus : static_cast<unsigned>(room);
}

fault_counts &operator+=(fault_counts &sum, const fault_counts &more)
{
	sum.timer += more.timer;
	sum.ipi += more.ipi;
	sum.nmi += more.nmi;
	sum.stalls += more.stalls;
	return sum;
}

template <typename Subject>
result torture_under_faults(const options &o, u32 cpus,
			    stuck standstill = stuck::is_a_bug)
{
	auto &t = bench<Subject>;
	plan p = plan_for<Subject>(o, storm_cpus<Subject>(cpus));
	visitors what = {};

	if constexpr (klock::try_lockable<typename Subject::lock>)
		what.in_nmi = [](unsigned cpu) {
			(void)bench<Subject>.drop_in(cpu);
		};
	t.prepare(p);
	prepare_faults(p.cpus, p.seed, what);
	run_watched(t, Subject::name, p.cpus, standstill, [&](unsigned cpu) {
		begin_faults(cpu);
		t.run(cpu);
		end_faults(cpu);
	});
	return t.outcome();
}

template <typename Subject>
storm_result storm_once(const options &o, u32 cpus, bool handlers_lock,
			stuck standstill = stuck::is_a_bug)
{
	auto &s = storm_bench<Subject>;
	const storm_plan p = {.cpus = storm_cpus<Subject>(cpus),
			      .sections = o.acquisitions,
			      .seed = o.seed,
			      .handlers_lock = handlers_lock};

	s.prepare(p);
	prepare_faults(
		p.cpus, p.seed,
		{[](unsigned cpu) { storm_bench<Subject>.interrupt(cpu); },
		 [](unsigned cpu) { storm_bench<Subject>.nmi(cpu); }});
	run_watched(s, Subject::name, p.cpus, standstill, [&](unsigned cpu) {
		begin_faults(cpu);
		s.run(cpu);
		end_faults(cpu);
	});
	return s.outcome();
}

void print_head(const options &o)
{
	if (o.output == mode::tap)
		return;
	boot::print("\n%-28s %4s %7s %6s %5s %5s %6s %5s %5s\n", "lock", "CPUs",
		    "sections", "irqs", "NMIs", "stops", "tried", "FIFO",
		    "excl.");
	boot::print("%-28s %4s %7s %6s %5s %5s %6s %5s %5s\n", "", "", "", "",
		    "", "", "vainly", "errs", "errs");
}

void print_storm(const options &o, const result &t, const storm_result &with,
		 const storm_result &without, const fault_counts &came)
{
	const char *wrong = fault(t);

	wrong = wrong ? wrong : fault(with);
	wrong = wrong ? wrong : fault(without);
	note_row(t.lock, wrong);
	if (o.output == mode::tap)
		boot::print("# %s: cpus %u, sections %u (handlers %u, NMIs "
			    "%u), timer %u, IPIs %u, NMIs %u, stalls %u, "
			    "halts %u, left %u, nested %u, refused %u%s%s\n",
			    t.lock, t.cpus,
			    t.acquisitions + with.sections + without.sections,
			    with.by_handlers,
			    t.visits + with.by_nmis + without.by_nmis,
			    came.timer, came.ipi, came.nmi, came.stalls,
			    without.halts, with.leaves + without.leaves,
			    with.nested + without.nested,
			    t.try_failures + with.refused + without.refused,
			    wrong ? ": " : "", wrong ? wrong : "");
	else
		boot::print("%-28s %4u %7u %6u %5u %5u %6u %5u %5u%s%s\n",
			    t.lock, t.cpus,
			    t.acquisitions + with.sections + without.sections,
			    came.interrupts(), came.nmi,
			    came.stalls + without.halts + with.leaves +
				    without.leaves,
			    t.try_failures + with.refused + without.refused,
			    t.fifo_violations,
			    t.exclusion_errors + t.lost_updates +
				    with.overlaps + with.lost +
				    without.overlaps + without.lost,
			    wrong ? "  " : "", wrong ? wrong : "");
	print_verdict(o, t.lock, wrong);
}

template <typename Subject>
void storm_one(const options &o, u32 cpus)
{
	fault_counts came;

	say_running(o, Subject::name);
	const result t = torture_under_faults<Subject>(o, cpus);
	came += faults_so_far();
	const storm_result with = storm_once<Subject>(o, cpus, true);
	came += faults_so_far();
	const storm_result without = storm_once<Subject>(o, cpus, false);
	came += faults_so_far();

	add_sections(t.acquisitions + t.visits + with.sections +
			     without.sections,
		     Subject::capacity);
	all_totals.interrupts += came.interrupts();
	all_totals.nmis += came.nmi;
	all_totals.faults +=
		came.stalls + with.leaves + without.leaves + without.halts;
	print_storm(o, t, with, without, came);
}

/* One run after another until the mistake shows, or not within the bound. */
template <typename Subject>
const char *find_in_storm(options o)
{
	constexpr unsigned most_runs = 20;
	const char *found = nullptr;

	for (unsigned run = 0; run < most_runs && !found; run++, o.seed++) {
		found = fault(torture_under_faults<Subject>(o, o.cpus[0],
							    stuck::is_meant));
		if (!found)
			found = fault(storm_once<Subject>(o, o.cpus[0], true,
							  stuck::is_meant));
	}
	return found;
}

/* A lock that one of its holders never gives back. */
struct kept : klock::ticket_lock<klock::u8> {
	void unlock()
	{
		if (++sections == 500)
			while (!give_up)
				klock::cpu_relax();
		ticket_lock::unlock();
	}

      private:
	unsigned sections = 0;
};

using kept_subject = subject<"kept_lock", kept, service::fifo>;

} // namespace

template <>
inline constexpr klock::usize ticket_distance<kept> = 1;
template <>
inline constexpr klock::usize ticket_size<kept> = 1;

int run_storm(const options &o)
{
	unsigned rows = 0;

	using locks = all_locks<most_cpus>;
	locks::for_each([&]<typename Subject>() {
		rows += o.counts * asks_for(o, Subject::name);
	});
	begin_report(o, rows);
	print_head(o);
	for (u32 i = 0; i < o.counts; i++)
		locks::for_each([&]<typename Subject>() {
			if (asks_for(o, Subject::name))
				storm_one<Subject>(o, o.cpus[i]);
		});
	return end_report();
}

int run_busted_storm(const options &o)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;

	begin_report(o, busted_locks::size);
	busted_locks::for_each([&]<typename Subject>() {
		if (!(Subject::found_in & here))
			print_skipped(o, Subject::name,
				      "cannot show on this machine");
		else
			print_busted_row(o, Subject::name, Subject::mistake,
					 find_in_storm<Subject>(o));
	});
	return end_report();
}

int run_stuck(const options &o)
{
	(void)storm_once<kept_subject>(o, o.cpus[0], true);
	boot::print("FAIL: a lock was kept and nobody noticed\n");
	return 1;
}

} // namespace lab
