/* SPDX-License-Identifier: MIT */
/*
 * topology - which CPUs share what, and how far their clocks are apart
 *
 * A clock's distance from CPU 0's: CPU 0 asks, the other answers with its time,
 * and CPU 0 looks at its own before and after. The answer lies somewhere in
 * between; of many the one that took the shortest time counts. A distance
 * within half of that time is none that can be seen.
 */
#include "topology.hpp"

#include "machine.hpp"
#include "report.hpp"

#include <boot/kernel.hpp>
#include <boot/topology.hpp>
#include <klock/atomic.hpp>

namespace lab {

namespace {

constexpr u32 questions = 200;

struct asking {
	unsigned who = 0;
	alignas(klock::cache_line) klock::atomic<u32> asked;
	alignas(klock::cache_line) klock::atomic<u32> answered;
	u64 answer = 0; /* written before answered, read after it */
};

constinit asking game;

/* Cycles; its clock is ahead of CPU 0's by so many, give or take. */
struct distance {
	bool behind = false;
	u64 apart = 0;
	u64 within = ~u64{0};
};

constinit distance found;

void ask()
{
	found = {};
	for (u32 i = 1; i <= questions; i++) {
		const u64 before = klock::cycles();
		game.asked.store_release(i);
		game.answered.await_eq_acquire(i);
		const u64 took = klock::cycles() - before;
		const u64 middle = before + took / 2;

		if (took / 2 >= found.within)
			continue;
		found.within = took / 2;
		found.behind = game.answer < middle;
		found.apart = found.behind ? middle - game.answer
					   : game.answer - middle;
	}
}

void answer()
{
	for (u32 i = 1; i <= questions; i++) {
		game.asked.await_eq_acquire(i);
		game.answer = klock::cycles();
		game.answered.store_release(i);
	}
}

void play(unsigned cpu, void *)
{
	if (cpu == 0)
		ask();
	else if (cpu == game.who)
		answer();
}

void measure_distance(unsigned cpu)
{
	found = {};
	found.within = 0;
	if (cpu == 0)
		return;
	game.who = cpu;
	game.asked.store_relaxed(0);
	game.answered.store_relaxed(0);
	boot::run_on_cpus(cpu + 1, play, nullptr);
}

void print_head(const options &o)
{
	print_machine();
	if (o.output == mode::csv) {
		boot::print("head,cpu,id,core,l2,l3,package,offset_ns,"
			    "within_ns,kind\n");
		return;
	}
	if (!boot::topology_is_known())
		boot::print("# which CPUs share what is not known here\n");
	boot::print("\nCPU      id   core     L2     L3  package   clock ns  "
		    "within%s\n",
		    *kind_of(0) ? "  kind" : "");
}

void print_cpu(const options &o, unsigned cpu)
{
	const boot::cpu_place at = boot::place_of(cpu);
	const u64 id = boot::hardware_id_of(cpu);
	const u64 apart = boot::cycles_to_ns(found.apart);
	const u64 within = boot::cycles_to_ns(found.within);
	const char *const sign = found.behind ? "-" : "+";
	const char *const kind = kind_of(cpu);

	if (o.output == mode::csv)
		boot::print("row,%u,%u,%u,%u,%u,%u,%s%u,%u,%s\n", cpu, id,
			    at.core, at.l2, at.l3, at.package, sign, apart,
			    within, *kind ? kind : "-");
	else
		boot::print("%-6u %4u %6u %6u %6u %8u %2s%8u %7u%s%s\n", cpu,
			    id, at.core, at.l2, at.l3, at.package, sign, apart,
			    within, *kind ? "  " : "", kind);
}

} // namespace

int run_topology(const options &o)
{
	begin_report(o, boot::cpu_count());
	print_head(o);
	for (unsigned cpu = 0; cpu < boot::cpu_count(); cpu++) {
		char name[16];

		boot::format_to(name, sizeof(name), "CPU_%u", cpu);
		measure_distance(cpu);
		print_cpu(o, cpu);
		note_row(name, nullptr);
		print_verdict(o, name, nullptr);
	}
	return end_report();
}

} // namespace lab
