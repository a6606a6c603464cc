/* SPDX-License-Identifier: MIT */
/*
 * pairs - what it costs to hand a line from one CPU to another
 *
 * Two CPUs throw a ball to and fro, one word in one line, and all others sleep:
 * klock/calibrate.hpp's measurement, for every two. Half of the shortest of 200
 * round trips: no lock hands over sooner. Which of the two measures makes no
 * difference, so that half of the matrix is all of it.
 */
#include "options.hpp"

#include "machine.hpp"
#include "report.hpp"

#include <boot/kernel.hpp>
#include <klock/calibrate.hpp>

namespace lab {

namespace {

using klock::usize;

/* Columns of a screen: the row's number, and six for each CPU. */
constexpr unsigned widest_matrix = 12;

struct pairing {
	klock::handoff_meter ball;
	unsigned thrower = 0;
	unsigned catcher = 0;
	klock::calibration found = {};
};

constinit pairing game;

/* The shortest and the longest handoff to another CPU that one has. */
struct reach {
	u64 near = ~u64{0}, far = 0; /* ns */
	unsigned nearest = 0, farthest = 0;

	void note(unsigned other, u64 ns)
	{
		if (ns < near) {
			near = ns;
			nearest = other;
		}
		if (ns > far) {
			far = ns;
			farthest = other;
		}
	}
};

constinit reach reaches[boot::max_cpus];

void play(unsigned cpu, void *)
{
	if (asks_for(seeded::no_work))
		return;
	if (cpu == game.thrower)
		game.found = klock::calibrate(game.ball);
	else if (cpu == game.catcher)
		game.ball.answer();
}

/* In cycles of the clock. */
u32 handoff_between(unsigned one, unsigned other)
{
	game.thrower = one;
	game.catcher = other;
	game.found = {};
	boot::run_on_cpus((one > other ? one : other) + 1, play, nullptr);
	return game.found.handoff;
}

void print_head(const options &o, unsigned cpus)
{
	if (o.output == mode::csv)
		return;
	boot::print("# one handoff, ns: half of the shortest of %u round "
		    "trips\n",
		    klock::detail::measurements);
	if (o.output == mode::tap || cpus > widest_matrix)
		return;
	boot::print("\nCPU   ");
	for (unsigned cpu = 0; cpu + 1 < cpus; cpu++)
		boot::print("%6u", cpu);
	boot::print("\n");
}

void print_pair(const options &o, unsigned cpus, unsigned one, unsigned other,
		u32 cycles)
{
	const u64 ns = boot::cycles_to_ns(cycles);

	if (o.output == mode::csv)
		boot::print("row,%u,%u,%u,%u\n", one, other, cycles, ns);
	else if (o.output == mode::tap)
		boot::print("# CPUs %u and %u: %u ns\n", one, other, ns);
	else if (cpus <= widest_matrix)
		boot::print("%6u", ns);
}

/* Its handoffs to all CPUs below. */
void measure_row(const options &o, unsigned cpus, unsigned cpu)
{
	const bool is_matrix = o.output == mode::table && cpus <= widest_matrix;
	const char *wrong = nullptr;
	char name[16];

	boot::format_to(name, sizeof(name), "CPU_%u", cpu);
	if (is_matrix)
		boot::print("%-6u", cpu);
	for (unsigned other = 0; other < cpu; other++) {
		const u32 cycles = handoff_between(cpu, other);
		const u64 ns = boot::cycles_to_ns(cycles);

		if (!cycles)
			wrong = "a handoff took no time: does the clock run?";
		reaches[cpu].note(other, ns);
		reaches[other].note(cpu, ns);
		print_pair(o, cpus, cpu, other, cycles);
	}
	if (is_matrix)
		boot::print("\n");
	note_row(name, wrong);
	print_verdict(o, name, wrong);
}

void print_reaches(unsigned cpus)
{
	boot::print("\nCPU    nearest     ns  farthest     ns\n");
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		const reach &r = reaches[cpu];

		boot::print("%-6u %7u %6u %9u %6u\n", cpu, r.nearest, r.near,
			    r.farthest, r.far);
	}
}

void measure_all(const options &o, unsigned cpus)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		reaches[cpu] = {};
	print_head(o, cpus);
	for (unsigned cpu = 1; cpu < cpus; cpu++)
		measure_row(o, cpus, cpu);
	if (o.output == mode::table)
		print_reaches(cpus);
}

/* Null: so many CPUs can be measured. */
const char *why_not(u32 cpus)
{
	if (cpus < 2)
		return "one CPU is no pair";
	return boot::coarse_step_ns() ? "the clock's steps are too long"
				      : nullptr;
}

} // namespace

int run_pairs(const options &o)
{
	unsigned rows = 0;

	for (u32 i = 0; i < o.counts; i++)
		rows += why_not(o.cpus[i]) ? 1 : o.cpus[i] - 1;
	begin_report(o, rows);
	print_machine();
	if (o.output == mode::csv)
		boot::print("head,cpu,other,cycles,ns\n");
	for (u32 i = 0; i < o.counts; i++) {
		if (const char *why = why_not(o.cpus[i]))
			print_skipped(o, "pairs", why);
		else
			measure_all(o, o.cpus[i]);
	}
	return end_report();
}

} // namespace lab
