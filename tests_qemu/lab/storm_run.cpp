/* SPDX-License-Identifier: MIT */
/*
 * storm_run - each lock three times under faults, one row each
 *
 * 1. The torture, in which order and exclusion can be seen exactly; interrupts
 *    only come, NMIs try the lock.
 * 2. The storm in which handlers take the lock.
 * 3. The storm in which holders HLT.
 */
#include "options.hpp"

#include "lock_tests.hpp"
#include "faults.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <klock/checked_lock.hpp>
#include <klock/selftest/busted.hpp>
#include <klock/selftest/locks.hpp>

namespace lab {

namespace {

using namespace klock::selftest;

/* If NMI handlers try the lock, each CPU contends twice. */
unsigned storm_cpus(const storm_calls &of, u32 cpus)
{
	const u64 contexts = of.try_lock && boot::has_nmi() ? 2 : 1;
	const u64 room = boot::div_u64(of.capacity, contexts);

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

/* Without a timer nothing would end what waits for it: halts and leaves. */
u32 left_out(const options &o)
{
	return o.without |
	       (asks_for(seeded::no_timer) ? part_halt | part_leave : 0);
}

/* The CPU that does not answer the watchdog: fault=silent_cpu. */
constinit unsigned silent = ~0u;

/*
 * Called in its NMI handler; on a machine without NMIs in its thread, which
 * then pauses no more.
 */
void halt_if_silent(unsigned cpu)
{
	if (cpu == silent)
		boot::halt();
}

/* The run of now, for handlers. */
constinit torture_run *torture_now = nullptr;
constinit storm *storm_now = nullptr;

result torture_under_faults(const lock_tests &lock, const options &o, u32 cpus,
			    stuck standstill = stuck::is_a_bug)
{
	const plan p = plan_for(o, storm_cpus(lock.storm.calls, cpus));
	visitors what = {nullptr, nullptr,
			 [] { return torture_now->progress(); }};

	torture_now = &lock.torture;
	if (lock.torture.calls.try_lock)
		what.in_nmi = [](unsigned cpu) {
			(void)torture_now->drop_in(cpu);
		};
	lock.torture.prepare(p);
	prepare_faults(p.cpus, p.seed, what);
	run_watched(
		watched_test(lock.torture, lock.name(), p.cpus,
			     lock.torture_state, standstill),
		[](unsigned cpu, void *) {
			begin_faults(cpu);
			torture_now->run(cpu);
			end_faults(cpu);
		},
		nullptr);
	return lock.torture.outcome();
}

storm_result storm_once(storm &s, lock_state (*state)(const void *),
			const options &o, u32 cpus, bool handlers_lock,
			stuck standstill = stuck::is_a_bug)
{
	const storm_plan p = {.cpus = storm_cpus(s.calls, cpus),
			      .sections = o.acquisitions,
			      .seed = o.seed,
			      .handlers_lock = handlers_lock,
			      .without = left_out(o),
			      .nmi_enters = asks_for(seeded::nmi_enters),
			      .loses_inner = asks_for(seeded::lost_inner)};

	silent = asks_for(seeded::silent_cpu) ? p.cpus - 1 : ~0u;
	storm_now = &s;
	s.prepare(p);
	prepare_faults(p.cpus, p.seed,
		       {[](unsigned cpu) { storm_now->interrupt(cpu); },
			[](unsigned cpu) {
				halt_if_silent(cpu);
				storm_now->nmi(cpu);
			},
			[] { return storm_now->progress(); }});
	run_watched(
		watched_test(s, s.calls.name, p.cpus, state, standstill),
		[](unsigned cpu, void *) {
			if (!boot::has_nmi())
				halt_if_silent(cpu);
			begin_faults(cpu);
			storm_now->run(cpu);
			end_faults(cpu);
		},
		nullptr);
	return s.outcome();
}

/* One lock's three runs, and what came in them. */
struct storm_row {
	result order;	      /* the torture */
	storm_result with;    /* handlers take the lock */
	storm_result without; /* holders HLT */
	fault_counts came;
	u64 sections() const
	{
		return order.acquisitions + order.visits + with.sections +
		       without.sections;
	}
	u64 stalls() const
	{
		return came.stalls + without.halts + with.leaves +
		       without.leaves;
	}
	u64 refused() const
	{
		return order.try_failures + with.refused + without.refused;
	}
	u64 errors() const
	{
		return order.exclusion_errors + order.lost_updates +
		       with.overlaps + with.lost + without.overlaps +
		       without.lost;
	}
};

/* Null: the lock held, and it was a storm. */
const char *fault(const storm_row &r)
{
	if (const char *wrong = fault(r.order))
		return wrong;
	if (const char *wrong = fault(r.with))
		return wrong;
	if (const char *wrong = fault(r.without))
		return wrong;
	if (!r.came.timer)
		return "no storm: no timer interrupt came";
	if (!r.came.ipi)
		return "no storm: no IPI came";
	if (!r.came.nmi && boot::has_nmi())
		return "no storm: no NMI came";
	return missed(r.with.missing | r.without.missing);
}

void print_head(const options &o)
{
	if (o.output != mode::table)
		return;
	boot::print("\n%-*s %4s %12s %10s %6s %6s %6s\n", name_width(o), "lock",
		    "CPUs", "acquisitions", "interrupts", "NMIs", "stalls",
		    "errors");
}

void print_storm(const options &o, const storm_row &r)
{
	const char *const wrong = fault(r);

	note_row(r.order.lock, wrong);
	if (o.output == mode::tap)
		boot::print("# %s: cpus %u, sections %u (handlers %u, NMIs "
			    "%u), timer %u, IPIs %u, NMIs %u, stalls %u, "
			    "halts %u, left %u, nested %u, refused %u%s%s\n",
			    r.order.lock, r.order.cpus, r.sections(),
			    r.with.by_handlers,
			    r.order.visits + r.with.by_nmis + r.without.by_nmis,
			    r.came.timer, r.came.ipi, r.came.nmi, r.came.stalls,
			    r.without.halts, r.with.leaves + r.without.leaves,
			    r.with.nested + r.without.nested, r.refused(),
			    wrong ? ": " : "", wrong ? wrong : "");
	else
		boot::print("%-*s %4u %12u %10u %6u %6u %6u%s%s\n",
			    name_width(o), r.order.lock, r.order.cpus,
			    r.sections(), r.came.interrupts(), r.came.nmi,
			    r.stalls(), r.errors() + r.order.fifo_violations,
			    wrong ? "\n  " : "", wrong ? wrong : "");
	print_verdict(o, r.order.lock, wrong);
}

void storm_one(const options &o, const lock_tests &lock, u32 cpus)
{
	storm_row r = {};

	say_running(o, lock.name());
	r.order = torture_under_faults(lock, o, cpus);
	r.came += faults_so_far();
	r.with = storm_once(lock.storm, lock.storm_state, o, cpus, true);
	r.came += faults_so_far();
	r.without = storm_once(lock.storm, lock.storm_state, o, cpus, false);
	r.came += faults_so_far();

	add_sections(r.sections(), lock.storm.calls.capacity);
	all_totals.interrupts += r.came.interrupts();
	all_totals.nmis += r.came.nmi;
	all_totals.faults += r.stalls();
	print_storm(o, r);
}

/* One run after another until the mistake shows, or not within the bound. */
const char *find_in_storm(const lock_tests &lock, options o, stuck standstill,
			  unsigned most_runs)
{
	const char *found = nullptr;
	attempts tries(o, most_runs, standstill);

	for (; tries.are_left() && !found; o.seed = o.seed + 1) {
		o.rest = tries.rest();
		const result r =
			torture_under_faults(lock, o, o.cpus[0], standstill);
		tries.note(r);
		found = fault(r);
		if (!found)
			found = fault(storm_once(lock.storm, lock.storm_state,
						 o, o.cpus[0], true,
						 standstill));
	}
	return found;
}

/* A lock that the holder of that section never gives back. */
template <typename L, unsigned Section>
struct kept : L {
	void unlock()
	{
		if (++sections == Section)
			while (!give_up)
				klock::cpu_relax();
		L::unlock();
	}

      private:
	unsigned sections = 0;
};

using kept_late = subject<"kept_lock", kept<klock::ticket_lock<klock::u8>, 500>,
			  service::fifo>;
/* All others wait, each with a ticket, and the holder has none. */
using kept_at_once =
	subject<"kept_lock", kept<klock::preemptable_ticket_lock<klock::u8>, 1>,
		service::fifo_if_all_run>;

} // namespace

template <typename L, unsigned Section>
inline constexpr ticket_places places_in<kept<L, Section>> = places_in<L>;
template <typename L, unsigned Section>
inline constexpr klock::usize ticket_size<kept<L, Section>> = ticket_size<L>;
template <typename L, unsigned Section>
inline constexpr bool has_held_bit<kept<L, Section>> = has_held_bit<L>;

namespace {

template <typename Subject>
constinit storm_of<Subject, most_cpus> kept_bench;

/* Storms until somebody notices. */
template <typename Subject>
void keep(const options &o)
{
	(void)storm_once(kept_bench<Subject>,
			 state_of<storm, storm_of<Subject, most_cpus>>, o,
			 o.cpus[0], true);
}

} // namespace

int run_storm(const options &o)
{
	return report_locks(o, print_head, storm_one);
}

int run_busted_storm(const options &o)
{
	return report_mutants(o, find_in_storm, busted_storm_runs);
}

/* Held by the CPU that drives the experiment: the watchdog reports that. */
constinit klock::checked_lock<klock::ticket_lock<klock::u8>, "experiment">
	experiment_lock;

int run_stuck(const options &o)
{
	klock::guard held(experiment_lock);

	print_plan(o, 1);
	if (asks_for(o, "ticket_lock<u8>"))
		keep<kept_late>(o);
	else
		keep<kept_at_once>(o);
	boot::print("FAIL: a lock was kept and nobody noticed\n");
	return 1;
}

} // namespace lab
