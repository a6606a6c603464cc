/* SPDX-License-Identifier: MIT */
/*
 * shared_run - the locks that readers share: readers together, writers alone
 */
#include "jobs.hpp"

#include "context.hpp"
#include "faults.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <klock/selftest/busted_shared.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/selftest/shared_torture.hpp>

namespace lab {

namespace {

using namespace klock::selftest;

using locks = all_shared_locks<most_cpus>;

template <typename Subject>
inline constinit shared_torture<Subject, most_cpus> shared_bench;

/* An NMI's handler may only try. */
template <typename Subject>
constexpr bool tries_in_nmi =
	klock::try_lockable<typename Subject::lock> &&
	klock::try_shared_lockable<typename Subject::lock>;

/* So many CPUs, each with so many contexts that may take the lock. */
template <typename Subject>
unsigned cpus_with(u32 cpus, unsigned contexts)
{
	const klock::u64 least = Subject::reader_capacity < Subject::capacity
					 ? Subject::reader_capacity
					 : Subject::capacity;
	const klock::u64 room =
		tries_in_nmi<Subject> ? boot::div_u64(least, contexts) : least;

	return cpus < room ? cpus : static_cast<unsigned>(room);
}

template <typename Subject>
[[gnu::noinline]] result torture_shared(const options &o, u32 cpus,
					stuck standstill = stuck::is_a_bug)
{
	auto &t = shared_bench<Subject>;
	plan p = plan_for(o, cpus_with<Subject>(cpus, 1));

	p.write_one_in = 2 + o.seed % 8;
	t.prepare(p);
	run_watched(t, Subject::name, p.cpus, standstill,
		    [&](unsigned cpu) { t.run(cpu); });
	return t.outcome();
}

/* Whether a part of the storm has not come to this lock yet. */
template <typename Subject>
bool is_missing()
{
	const fault_counts came = faults_so_far();

	return !came.timer || !came.ipi || (!came.nmi && boot::has_nmi()) ||
	       !shared_bench<Subject>.was_visited();
}

template <typename Subject>
[[gnu::noinline]] result storm_shared(const options &o, u32 cpus)
{
	auto &t = shared_bench<Subject>;
	const unsigned contexts = boot::has_nmi() ? 2 : 1;
	plan p = plan_for(o, cpus_with<Subject>(cpus, contexts));
	visitors what = {
		[](unsigned cpu) { shared_bench<Subject>.interrupt(cpu); },
		nullptr, [] { return shared_bench<Subject>.progress(); }};

	if constexpr (tries_in_nmi<Subject>)
		what.in_nmi = [](unsigned cpu) {
			shared_bench<Subject>.drop_in(cpu);
		};
	p.convoys = 0; /* handlers come in between: no order to be seen */
	p.write_one_in = 4;
	p.irqs_off = true;
	p.is_missing = is_missing<Subject>;
	t.prepare(p);
	prepare_faults(p.cpus, p.seed, what);
	run_watched(t, Subject::name, p.cpus, stuck::is_a_bug,
		    [&](unsigned cpu) {
			    begin_faults(cpu);
			    t.run(cpu);
			    end_faults(cpu);
		    });
	return t.outcome();
}

void say_readers(const options &o, const result &r)
{
	if (o.output == mode::tap)
		boot::print("# %s: %u of them read, %u at once; %u by handlers "
			    "and NMIs; longest wait %u to read, %u to write\n",
			    r.lock, r.reads, r.most_together, r.visits,
			    r.longest_read_wait, r.longest_wait);
}

/* One row per lock, run by row.operator()<Subject>(cpus, missed). */
template <typename Row>
int each_lock(const options &o, Row row)
{
	begin_report(o, o.counts * shared_locks_asked_for(o));
	print_torture_head(o);
	for (u32 i = 0; i < o.counts; i++)
		locks::for_each([&]<typename Subject>() {
			if (!asks_for(o, Subject::name))
				return;
			say_running(o, Subject::name);
			const char *missed = nullptr;
			const result r = row.template operator()<Subject>(
				o.cpus[i], missed);
			add_sections(r.acquisitions, Subject::capacity);
			say_readers(o, r);
			print_torture(o, r, missed);
		});
	return end_report();
}

template <typename Subject>
const char *find_shared(options o)
{
	const char *found = nullptr;

	for (unsigned run = 0; run < 50 && !found; run++, o.seed++)
		found = fault(
			torture_shared<Subject>(o, o.cpus[0], stuck::is_meant));
	return found;
}

} // namespace

int run_shared(const options &o)
{
	return each_lock(o, [&]<typename Subject>(u32 cpus, const char *&) {
		return torture_shared<Subject>(o, cpus);
	});
}

int run_shared_storm(const options &o)
{
	return each_lock(
		o, [&]<typename Subject>(u32 cpus, const char *&missed) {
			const result r = storm_shared<Subject>(o, cpus);
			const fault_counts came = faults_so_far();

			all_totals.interrupts += came.interrupts();
			all_totals.nmis += came.nmi;
			all_totals.faults += came.stalls;
			if (is_missing<Subject>())
				missed = "no storm: some of it did not come";
			return r;
		});
}

int run_busted_shared(const options &o)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;
	const char *wrong = nullptr;

	begin_report(o, 1 + busted_shared_locks::size);
	/* What is right passes; how long it stands still, the watchdog learns.
	 */
	locks::for_each([&]<typename Subject>() {
		if (fault(torture_shared<Subject>(o, o.cpus[0],
						  stuck::is_control)))
			wrong = "a right lock was found out";
	});
	note_row("control", wrong);
	print_verdict(o, "control", wrong);
	busted_shared_locks::for_each([&]<typename Subject>() {
		if (!(Subject::found_in & here))
			print_skipped(o, Subject::name,
				      "cannot show on this machine");
		else
			print_busted_row(o, Subject::name, Subject::mistake,
					 find_shared<Subject>(o));
	});
	return end_report();
}

} // namespace lab
