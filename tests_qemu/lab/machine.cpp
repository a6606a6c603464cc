/* SPDX-License-Identifier: MIT */
/*
 * machine - what the lab measures of the machine before it measures locks
 */
#include "machine.hpp"

#include "options.hpp"
#include "report.hpp"

#include <boot/kernel.hpp>
#include <boot/cpus.hpp>
#include <klock/atomic.hpp>
#include <klock/selftest/parts.hpp>

namespace lab {

namespace {

constinit klock::handoff_meter meter;
constinit klock::u32 floor_cycles = 0;

/* CPU 1 answers CPU 0, which measures. */
klock::calibration measure_with_two()
{
	klock::calibration found = {};

	boot::run_on_cpus(
		2,
		[](unsigned cpu, void *into) {
			if (cpu == 1)
				meter.answer();
			else
				*static_cast<klock::calibration *>(into) =
					klock::calibrate(meter);
		},
		&found);
	return found;
}

/* Measures the cost of a pause, which needs no second CPU. */
klock::calibration measure_alone()
{
	klock::calibration found = {};

	found.relax = relax_among(1);
	found.base = klock::guessed_base;
	return found;
}

/* All pause until CPU 0 has seen how long its own pauses take. */
struct pausing {
	klock::selftest::barrier everyone;
	klock::atomic<klock::u32> over;
	unsigned cpus;
	klock::u32 relax;
};

constinit pausing crowd = {};

void pause_together(unsigned cpu, void *)
{
	constexpr klock::u32 turns = 256;

	crowd.everyone.meet(crowd.cpus);
	if (cpu != 0) {
		crowd.over.await_eq_relaxed(1);
		return;
	}
	const klock::u64 start = klock::cycles();

	klock::relax_for(turns);
	crowd.relax = static_cast<klock::u32>(
		boot::div_u64(klock::cycles() - start, turns));
	crowd.over.store_relaxed(1);
}

/* Among all CPUs, how many different ones. */
template <typename Of>
unsigned count_different(Of of)
{
	unsigned many = 0;

	for (unsigned cpu = 0; cpu < boot::cpu_count(); cpu++) {
		bool is_new = true;

		for (unsigned other = 0; other < cpu; other++)
			is_new &= of(other) != of(cpu);
		many += is_new;
	}
	return many;
}

constinit const char *kinds[boot::max_cpus] = {};

/* Each CPU says it of itself alone. */
void find_kinds()
{
	boot::run_on_cpus(
		boot::cpu_count(),
		[](unsigned cpu, void *) { kinds[cpu] = boot::cpu_kind(); },
		nullptr);
}

bool is_of_kind(unsigned cpu, unsigned other)
{
	return boot::same_text(kinds[cpu], kinds[other]);
}

/* A text that grows; what does not fit is cut. */
struct growing_line {
	char text[256] = {};
	klock::usize length = 0;

	template <typename... Arguments>
	void add(boot::format_for<Arguments...> format, Arguments... arguments)
	{
		length += boot::format_to(text + length, sizeof(text) - length,
					  format, arguments...);
	}
};

/* " (8 Core, 16 Atom)", in the order of the first CPU of each. */
void add_kinds(growing_line &line)
{
	const char *before = " (";

	for (unsigned first = 0; first < boot::cpu_count(); first++) {
		unsigned many = 0, earlier = 0;

		for (unsigned cpu = 0; cpu < boot::cpu_count(); cpu++) {
			many += is_of_kind(cpu, first);
			earlier += cpu < first && is_of_kind(cpu, first);
		}
		if (earlier)
			continue;
		line.add("%s%u %s", before, many, kinds[first]);
		before = ", ";
	}
	line.add(")");
}

void add_places(growing_line &line)
{
	const unsigned cores = count_different(
		[](unsigned cpu) { return boot::place_of(cpu).core; });
	const unsigned packages = count_different(
		[](unsigned cpu) { return boot::place_of(cpu).package; });

	line.add(" in %u core%s of %u package%s", cores, cores == 1 ? "" : "s",
		 packages, packages == 1 ? "" : "s");
}

} // namespace

const char *kind_of(unsigned cpu) { return kinds[cpu] ? kinds[cpu] : ""; }

const char *machine_line()
{
	static constinit growing_line line;
	const char *const model = boot::cpu_model();

	line.length = 0;
	line.add("%s, ", *model ? model : "no name");
	if (boot::cpu_microcode())
		line.add("microcode 0x%x, ", boot::cpu_microcode());
	line.add("%u CPUs", boot::cpu_count());
	if (*boot::cpu_kind()) {
		find_kinds();
		add_kinds(line);
	}
	if (boot::topology_is_known())
		add_places(line);
	line.add(", clock %sinvariant",
		 boot::clock_is_invariant() ? "" : "not ");
	return line.text;
}

void print_machine() { boot::print("# machine: %s\n", machine_line()); }

klock::u32 relax_among(unsigned cpus)
{
	crowd.everyone.reset();
	crowd.over.store_relaxed(0);
	crowd.cpus = cpus;
	boot::run_on_cpus(cpus, pause_together, nullptr);
	return crowd.relax;
}

klock::u32 handoff_floor() { return floor_cycles; }

bool is_measured(u64 ns) { return ns >= 100 * boot::coarse_step_ns(); }

namespace {

/* Neither a pause nor a handoff is as long as a step: the base is a guess. */
klock::calibration unmeasured()
{
	klock::calibration c = {};

	floor_cycles = 0;
	c.base = klock::guessed_base;
	print_machine();
	boot::print("# clock %u kHz, by steps of %u ns: no pause, no handoff "
		    "was measured, times below 100 steps are left out\n",
		    boot::div_u64(boot::clock_hz(), 1000),
		    boot::coarse_step_ns());
	return c;
}

} // namespace

klock::calibration measure_machine()
{
	if (boot::coarse_step_ns())
		return unmeasured();
	const klock::calibration c =
		boot::cpu_count() > 1 ? measure_with_two() : measure_alone();

	print_machine();
	floor_cycles = boot::cpu_count() > 1 ? c.handoff : 0;
	boot::print("# clock %u kHz; pause %u cycles; handoff %u cycles; "
		    "back-off base %u\n",
		    boot::div_u64(boot::clock_hz(), 1000), c.relax, c.handoff,
		    c.base);
	if (c.error == klock::calibration_error::unsteady_clock)
		boot::print("# the clock's rate may vary: no invariant TSC\n");
	if (c.error == klock::calibration_error::no_clock)
		boot::print("# no RDTSCP: the base is a guess\n");
	return c;
}

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
