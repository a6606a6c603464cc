/* SPDX-License-Identifier: MIT */
/*
 * panic - one CPU reports, all others stand still
 */
#include <boot/clock.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/format.hpp>
#include <boot/panic.hpp>
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/os.hpp>

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

bool give_way_to_report()
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
	(void)print_calls(reinterpret_cast<usize>(__builtin_frame_address(0)));
	end_report();
}

/*
 * -- Where a CPU stood, and who called whom --
 *
 * By the chain of frame pointers: a frame pointer shows, FRAME_LINK_BELOW bytes
 * below itself, where the caller's is kept, and behind that the return address.
 * A chain that leaves the stack, goes back, or returns to what is no code ends
 * there: the code was built without it, or the stack is damaged. What is
 * printed lies in the call, not behind it, so that addr2line names the caller's
 * line.
 */

/* The linker script's: between them lies all code. */
extern "C" const u8 image_start[], image_rodata[];

namespace {

constexpr unsigned max_calls = 16;

struct frame_link {
	usize caller;
	usize return_address;
};

bool is_aligned(usize address) { return address % sizeof(usize) == 0; }

bool is_behind_code(usize address)
{
	return address > reinterpret_cast<usize>(image_start) &&
	       address <= reinterpret_cast<usize>(image_rodata);
}

} // namespace

void print_stack(unsigned cpu, usize pointer)
{
	const cpu_stacks &own = stacks[cpus[cpu] - cpu_blocks];
	const usize end = reinterpret_cast<usize>(&own + 1);
	const usize top = reinterpret_cast<usize>(own.nmi);
	const usize bottom = reinterpret_cast<usize>(own.thread);
	const usize guard = reinterpret_cast<usize>(own.guard);

	if (pointer > top && pointer <= end)
		print_report("  stack: the one for NMIs and faults\n");
	else if (pointer > bottom && pointer <= top)
		print_report("  stack: %u of %u bytes in use\n", top - pointer,
			     sizeof(own.thread));
	else if (pointer >= guard && pointer <= top)
		print_report("  stack: OVERFLOW, it has %u bytes\n",
			     sizeof(own.thread));
	else
		print_report("  stack: none of this CPU's\n");
}

unsigned print_calls(usize at)
{
	const cpu_stacks &own = stacks[cpus[this_cpu()] - cpu_blocks];
	usize low = reinterpret_cast<usize>(own.thread);
	const usize high = reinterpret_cast<usize>(own.nmi);
	unsigned n = 0;

	for (at -= FRAME_LINK_BELOW;
	     n < max_calls && at >= low && is_aligned(at) && at < high &&
	     high - at >= sizeof(frame_link);
	     n++) {
		const frame_link link =
			*reinterpret_cast<const frame_link *>(at);

		if (!is_behind_code(link.return_address))
			break;
		print_report("%s %08x", n ? "" : "  called from",
			     link.return_address - 1);
		low = at + sizeof(frame_link);
		at = link.caller - FRAME_LINK_BELOW;
	}
	if (n)
		print_report("\n");
	return n;
}

} // namespace boot

extern "C" void klock_os_panic(const char *lock_name, const void *lock_address,
			       unsigned cpu, const char *what)
{
	boot::panic("lock %s at %p, by CPU %u: %s", lock_name, lock_address,
		    cpu, what);
}
