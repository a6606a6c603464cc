/* SPDX-License-Identifier: MIT */
/*
 * panic - one CPU reports, all others stand still
 */
#include <boot/clock.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/divide.hpp>
#include <boot/exit.hpp>
#include <boot/interrupts.hpp>
#include <boot/ipi.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/report.hpp>
#include <boot/machine.hpp>
#include <boot/trace.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace boot {

namespace {

constexpr u32 nobody = ~0u;

/* The CPU that reports. */
constinit klock::atomic<u32> reporter{nobody};

/* Other CPUs that wanted to report. */
constinit klock::atomic<u32> too_late{0};

/* Failures of the report itself. */
constinit klock::atomic<u32> failures{0};

[[noreturn]] void stand_still()
{
	cpus[this_cpu()]->stopped.store_release(1);
	halt();
}

/*
 * Whether all others stood still soon enough. Not for ever: a CPU that is in an
 * NMI handler gets no second NMI before it returns. Counted in turns, not in
 * time, which may stand still while everybody waits (QEMU -icount). Without
 * NMIs a CPU that hangs with interrupts off makes each turn a time slice of the
 * host's: then time counts, too.
 */
bool others_stand_still(unsigned self)
{
	constexpr u64 longest_seconds = 2;
	const u64 start = klock::cycles();

	for (u32 turns = 0; turns < 1'000'000; turns++) {
		if (!has_nmi() &&
		    klock::cycles() - start > longest_seconds * clock_hz())
			return false;
		bool all = true;

		for (unsigned cpu = 0; cpu < cpu_count() && all; cpu++)
			all = cpu == self || cpus[cpu]->stopped.load_acquire();
		if (all)
			return true;
		klock::cpu_relax();
	}
	return false;
}

/* Once more, with as little as can be; then never again. */
[[noreturn]] void report_failed()
{
	if (failures.fetch_add_relaxed(1) == 0) {
		start_line_anyway();
		print_report("PANIC on CPU %u: and its report failed, too\n",
			     this_cpu());
	}
	exit(exit_code::panic);
}

void print_stragglers(unsigned self)
{
	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		if (cpu != self && !cpus[cpu]->stopped.load_acquire())
			print_report("  (CPU %u does not stop)\n", cpu);
	}
}

} // namespace

bool is_reporting()
{
	const u32 who = reporter.load_acquire();

	if (who != nobody && who != this_cpu())
		stand_still();
	return who != nobody;
}

void begin_report()
{
	const unsigned self = this_cpu();
	u32 first = nobody;

	disable_interrupts();
	if (!reporter.compare_exchange_acq_rel(first, self)) {
		if (first == self)
			report_failed();
		too_late.fetch_add_relaxed(1);
		stand_still();
	}

	for (unsigned cpu = 0; cpu < cpu_count(); cpu++) {
		if (cpu != self)
			stop_cpu(cpu);
	}
	const bool quiet = others_stand_still(self);
	start_line_anyway();
	if (!quiet)
		print_stragglers(self);
}

void end_report()
{
	const u32 others = too_late.load_relaxed();
	const u64 ns = ns_since_boot();

	if (ns)
		print_report("  %u ms after boot began\n",
			     div_u64(ns, 1'000'000));
	if (others)
		print_report("  (%u other CPUs wanted to report, too)\n",
			     others);
	exit(exit_code::panic);
}

void panic_list(const char *format, const format_argument *arguments)
{
	begin_report();
	print_report("PANIC on CPU %u: ", this_cpu());
	print_anyway(format, arguments);
	print_report("\n");
	print_calls(reinterpret_cast<usize>(__builtin_frame_address(0)));
	end_report();
}

} // namespace boot
