/* SPDX-License-Identifier: MIT */
/*
 * counts_run - all CPUs want a run queue and, now and then, the log: a table of
 * who was waited for, and whether it is whole
 */
#include "options.hpp"

#include "report.hpp"
#include "runner.hpp"

#include <klock/atomic.hpp>
#include <klock/counted_lock.hpp>
#include <klock/cpu.hpp>
#include <klock/irq_guard.hpp>
#include <klock/print_counts.hpp>
#include <klock/ticket_lock.hpp>

namespace lab {

namespace {

using byte_lock = klock::ticket_lock<klock::u8>;

constexpr bool counts = true;
constexpr u32 sections = 1000; /* each CPU's, of the run queues */
constexpr u32 one_in = 10;     /* of which one writes to the log */

constinit klock::counted_if<counts, byte_lock> runqueues[2];
constinit klock::counted_if<counts, klock::hold_times<byte_lock>, "log"> log;

/* CPU 0 has the first queue: the others begin, whenever each of them comes. */
constinit klock::atomic<u32> begun;

/* So that somebody is seen to wait, on one core too. */
void wait_for_a_waiter()
{
	klock::irq_guard held(runqueues[0]);

	begun.store_release(1);
	while (!runqueues[0].is_contended())
		klock::cpu_relax();
}

void one_cpu(unsigned cpu, void *cpus)
{
	if (cpu != 0)
		begun.await_eq_acquire(1);
	else if (*static_cast<u32 *>(cpus) > 1)
		wait_for_a_waiter();
	for (u32 i = cpu == 0 && asks_for(seeded::lost_count); i < sections;
	     i++) {
		klock::irq_guard held(runqueues[i % 2]);

		if (i % one_in == 0)
			klock::irq_guard second(log);
	}
}

u64 counted_in_all()
{
	u64 sum = 0;

	klock::for_each_count(
		[&](const klock::count_view &one) { sum += one.acquired; });
	return sum;
}

} // namespace

int run_counts(const options &o)
{
	u32 cpus = o.cpus[0];
	const u32 each = sections + sections / one_in;
	const bool is_alone = cpus == 1;

	begin_report(o, 1);
	klock::set_name(runqueues[0], "runqueue", 0);
	klock::set_name(runqueues[1], "runqueue", 1);
	/* The first lists itself, where somebody waits for it. */
	if (is_alone)
		klock::list_counts(runqueues[0]);
	klock::list_counts(runqueues[1]);
	klock::list_counts(log);
	boot::run_on_cpus(cpus, one_cpu, &cpus);
	klock::print_counts(
		[](const char *line) { boot::print("# %s\n", line); });
	/* One more where CPU 0 has waited for a waiter. */
	const u64 all = u64{each} * cpus + !is_alone;
	const char *const wrong = counted_in_all() == all
					  ? nullptr
					  : "an acquisition was not counted";

	note_row("counts", wrong);
	print_verdict(o, "counts", wrong);
	return end_report();
}

} // namespace lab
