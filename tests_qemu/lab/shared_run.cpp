/* SPDX-License-Identifier: MIT */
/*
 * shared_run - the locks that readers share: readers together, writers alone
 */
#include "options.hpp"

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

/* One torture a lock, all their lives: kernels have no heap. */
template <typename Subject>
inline constinit shared_torture<Subject, most_cpus> the_torture;

struct shared_row {
	shared_torture_run &torture;
	lock_state (*state)(const void *torture);
	const char *mistake; /* a mutant's */
	unsigned found_in;

	[[nodiscard]] const char *name() const { return torture.calls.name; }
};

template <typename Subject>
constexpr shared_row row_of()
{
	shared_row row = {the_torture<Subject>,
			  state_of<shared_torture_run,
				   shared_torture<Subject, most_cpus>>,
			  nullptr, 0};

	if constexpr (requires { Subject::mistake; }) {
		row.mistake = Subject::mistake;
		row.found_in = Subject::found_in;
	}
	return row;
}

template <typename List>
struct rows_of;
template <typename... Subjects>
struct rows_of<list<Subjects...>> {
	static constexpr shared_row rows[] = {row_of<Subjects>()...};
};
constexpr auto &all_rows = rows_of<all_shared_locks<most_cpus>>::rows;
constexpr auto &busted_rows = rows_of<busted_shared_locks>::rows;

/* `cpus`, or less where the lock has no room for that many contexts on each. */
unsigned cpus_with(const shared_calls &of, u32 cpus, unsigned contexts)
{
	const klock::u64 least = of.reader_capacity < of.capacity
					 ? of.reader_capacity
					 : of.capacity;
	const klock::u64 room =
		of.can_try() ? boot::div_u64(least, contexts) : least;

	return cpus < room ? cpus : static_cast<unsigned>(room);
}

result torture_shared(const shared_row &row, const options &o, u32 cpus,
		      stuck standstill = stuck::is_a_bug)
{
	plan p = plan_for(o, cpus_with(row.torture.calls, cpus, 1));

	p.write_one_in = 2 + o.seed % 8;
	row.torture.prepare(p);
	run_watched(
		watched_test(row.torture, row.name(), p.cpus, row.state,
			     standstill),
		[](unsigned cpu, void *of) {
			static_cast<shared_torture_run *>(of)->run(cpu);
		},
		&row.torture);
	return row.torture.outcome();
}

/* The run that the handlers of a storm work on. */
constinit shared_torture_run *in_storm = nullptr;

/* Whether a part of the storm has not come to this lock yet. */
bool is_missing()
{
	const fault_counts came = faults_so_far();

	return !came.timer || !came.ipi || (!came.nmi && boot::has_nmi()) ||
	       !in_storm->was_visited();
}

result storm_shared(const shared_row &row, const options &o, u32 cpus)
{
	const shared_calls &calls = row.torture.calls;
	const unsigned contexts = boot::has_nmi() ? 2 : 1;
	/* Handlers come in between: no order is to be seen. */
	plan p = plan_for(o, cpus_with(calls, cpus, contexts), 0);
	visitors what = {[](unsigned cpu) { in_storm->interrupt(cpu); },
			 nullptr, [] { return in_storm->progress(); }};

	if (calls.can_try())
		what.in_nmi = [](unsigned cpu) { in_storm->drop_in(cpu); };
	p.write_one_in = 4;
	p.irqs_off = true;
	p.is_missing = is_missing;
	in_storm = &row.torture;
	in_storm->prepare(p);
	prepare_faults(p.cpus, p.seed, what);
	run_watched(
		watched_test(row.torture, row.name(), p.cpus, row.state,
			     stuck::is_a_bug),
		[](unsigned cpu, void *of) {
			begin_faults(cpu);
			static_cast<shared_torture_run *>(of)->run(cpu);
			end_faults(cpu);
		},
		in_storm);
	return in_storm->outcome();
}

void say_readers(const options &o, const result &r)
{
	if (o.output == mode::tap)
		boot::print("# %s: %u of them read, %u at once; %u by handlers "
			    "and NMIs; longest wait %u to read, %u to write\n",
			    r.lock, r.reads, r.most_together, r.visits,
			    r.longest_read_wait, r.longest_wait);
}

/* One row per lock, run by run(row, options, cpus, missed). */
int each_lock(const options &o,
	      result (*run)(const shared_row &row, const options &o, u32 cpus,
			    const char *&missed))
{
	begin_report(o, o.counts * shared_locks_asked_for(o));
	print_torture_head(o);
	for (u32 i = 0; i < o.counts; i++)
		for (const shared_row &row : all_rows) {
			if (!asks_for(o, row.name()))
				continue;
			say_running(o, row.name());
			const char *missed = nullptr;
			const result r = run(row, o, o.cpus[i], missed);
			add_sections(r.acquisitions,
				     row.torture.calls.capacity);
			say_readers(o, r);
			print_torture(o, r, missed);
		}
	return end_report();
}

/* Returns the mutant; with fault=right_mutant, a lock that is right. */
const shared_row &to_find(const shared_row &mutant)
{
	return asks_for(seeded::right_mutant) ? all_rows[0] : mutant;
}

const char *find_shared(const shared_row &row, options o)
{
	const char *found = nullptr;

	for (unsigned run = 0; run < 50 && !found; run++) {
		found = fault(
			torture_shared(row, o, o.cpus[0], stuck::is_meant));
		o.seed = o.seed + 1;
	}
	return found;
}

} // namespace

int run_shared(const options &o)
{
	return each_lock(
		o, [](const shared_row &row, const options &o, u32 cpus,
		      const char *&) { return torture_shared(row, o, cpus); });
}

int run_shared_storm(const options &o)
{
	return each_lock(o, [](const shared_row &row, const options &o,
			       u32 cpus, const char *&missed) {
		const result r = storm_shared(row, o, cpus);
		const fault_counts came = faults_so_far();

		all_totals.interrupts += came.interrupts();
		all_totals.nmis += came.nmi;
		all_totals.faults += came.stalls;
		if (is_missing())
			missed = "no storm: some of it did not come";
		return r;
	});
}

int run_busted_shared(const options &o)
{
	const unsigned here = o.parallel ? in_parallel : in_turns;
	const char *wrong = nullptr;

	begin_report(o, 1 + busted_shared_locks::size);
	/*
	 * The right locks pass, and the watchdog learns how long they stand
	 * still.
	 */
	const auto try_one = [&](const shared_row &row) {
		if (fault(torture_shared(row, o, o.cpus[0], stuck::is_control)))
			wrong = "a right lock was found out";
	};

	for (const shared_row &row : all_rows)
		try_one(row);
	if (asks_for(seeded::wrong_control))
		try_one(busted_rows[0]);
	note_row("control", wrong);
	print_verdict(o, "control", wrong);
	for (const shared_row &row : busted_rows) {
		if (!(row.found_in & here))
			print_skipped(o, row.name(),
				      "cannot show on this machine");
		else
			print_busted_row(o, row.name(), row.mistake,
					 find_shared(to_find(row), o));
	}
	return end_report();
}

} // namespace lab
