/* SPDX-License-Identifier: MIT */
/*
 * deadline_run - a holder that does not leave, and all others give up in time
 */
#include "options.hpp"

#include "report.hpp"
#include "runner.hpp"

#include <boot/clock.hpp>
#include <boot/format.hpp>
#include <klock/selftest/torture.hpp>

namespace lab {

namespace {

using klock::selftest::deadline_result;
using klock::selftest::deadline_trial;

/* Each CPU's, at least. */
constexpr u32 attempts = 5;

/*
 * Many fit in the time that a host's scheduler gives a vCPU; and vCPUs that
 * take turns look again within a part of it.
 */
u64 deadline_for(u32 cpus)
{
	return boot::ns_to_cycles(200'000 + 8'000 * cpus);
}

template <typename Subject>
inline constinit deadline_trial<Subject, most_cpus> deadline_bench{};

u64 to_us(u64 cycles)
{
	return boot::div_u64(boot::cycles_to_ns(cycles), 1000);
}
void print_row(const options &o, const char *name, u32 cpus,
	       const deadline_result &r)
{
	const char *const wrong = fault(r);

	note_row(name, wrong);
	boot::print("%s%s: ", o.output == mode::tap ? "# " : "", name);
	boot::print("cpus %u, deadline %u us: given up %u times, %u of them in "
		    "time, after %u us at most (the clock alone: %u us); then "
		    "%u sections%s%s\n",
		    cpus, to_us(r.deadline), r.refused, r.in_time,
		    to_us(r.longest), to_us(r.control), r.sections,
		    wrong ? ": " : "", wrong ? wrong : "");
	print_verdict(o, name, wrong);
}

/* -- fault=: a lock that is wrong in one way -- */

constinit seeded wrong_now = seeded::nothing;

template <typename L>
struct wrong_lock : L {
	void lock(unsigned cpu)
	{
		if (!has_given_up)
			L::lock(cpu);
	}

	[[nodiscard]] bool try_lock_until(unsigned cpu, u64 deadline)
	{
		const u64 now = klock::cycles();

		switch (wrong_now) {
		case seeded::early:
			return L::try_lock_until(cpu, now);
		case seeded::late:
			return L::try_lock_until(cpu,
						 now + (deadline - now) * 3);
		case seeded::let_in:
			is_in[cpu] = true;
			return true;
		default:
			const bool in = L::try_lock_until(cpu, deadline);

			has_given_up = wrong_now == seeded::no_exclusion && !in;
			return in;
		}
	}

	void unlock(unsigned cpu)
	{
		if (!is_in[cpu] && !has_given_up)
			L::unlock(cpu);
		is_in[cpu] = false;
	}

      private:
	volatile bool has_given_up = false;
	bool is_in[most_cpus] = {};
};

/* Sets wrong_now, if fault= asks for one of these; else returns false. */
bool seed_wrong_lock()
{
	constexpr seeded faults[] = {seeded::early, seeded::late,
				     seeded::let_in, seeded::no_exclusion};

	for (const seeded fault : faults)
		if (asks_for(fault))
			wrong_now = fault;
	return wrong_now != seeded::nothing;
}

template <typename Subject>
using wrong_subject =
	klock::selftest::subject<"wrong_lock",
				 wrong_lock<typename Subject::lock>,
				 klock::selftest::service::none>;

template <typename Subject>
[[gnu::noinline]] void try_one(const options &o, u32 asked)
{
	const u32 cpus = participants<Subject>(asked);
	auto &t = deadline_bench<Subject>;

	if (cpus < 2) {
		print_skipped(o, Subject::name, "one CPU: nobody waits");
		return;
	}
	say_running(o, Subject::name);
	t.prepare(cpus, deadline_for(cpus),
		  asks_for(seeded::no_attempt) ? 0 : attempts);
	run_watched(t, Subject::name, cpus, stuck::is_a_bug,
		    [](unsigned cpu) { deadline_bench<Subject>.run(cpu); });
	const deadline_result r = t.outcome();
	all_totals.acquisitions += r.sections;
	print_row(o, Subject::name, cpus, r);
}

template <typename Visit>
void for_each_timed(Visit visit)
{
	klock::selftest::all_locks<
		most_cpus>::for_each([&]<typename Subject>() {
		if constexpr (klock::timed_lockable<typename Subject::lock>)
			visit.template operator()<Subject>();
	});
}

} // namespace

int run_deadline(const options &o)
{
	unsigned rows = 0;

	for_each_timed([&]<typename Subject>() { rows++; });
	begin_report(o, o.counts * rows);
	for (u32 i = 0; i < o.counts; i++)
		for_each_timed([&]<typename Subject>() {
			if (seed_wrong_lock())
				try_one<wrong_subject<Subject>>(o, o.cpus[i]);
			else
				try_one<Subject>(o, o.cpus[i]);
		});
	return end_report();
}

} // namespace lab
