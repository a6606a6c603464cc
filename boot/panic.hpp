/* SPDX-License-Identifier: MIT */
/*
 * panic - how the kernel ends, with a reason or without
 */
#pragma once

#include <boot/console.hpp>
#include <boot/format.hpp>
#include <boot/types.hpp>
#include <machine/layout.h>

namespace boot {

[[noreturn]] void panic_list(const char *format,
			     const format_argument *arguments);

/*
 * Stops all other CPUs (by NMI where there is one: those that wait for a
 * lock with interrupts off, too), prints one line "PANIC on CPU n: ..." and
 * leaves with exit_code::panic. Of several CPUs that panic at once, one
 * reports.
 *
 * Formats as print() does. Any context, NMI and held locks included: the
 * console's lock is not taken.
 */
template <typename... Arguments>
[[noreturn]] void panic(format_for<Arguments...> format, Arguments... arguments)
{
	const format_argument list[] = {format_argument(arguments)..., {}};

	panic_list(format.text, list);
}

/* -- Without: a run that has passed or failed -- */

/*
 * QEMU exits with status 2 * code + 1, on every machine: 85, 87, 89 (x86: what
 * is written to isa-debug-exit becomes that). Nothing else ends QEMU like that:
 * an error of its own is 1, a reset under -no-reboot (triple fault) and a
 * power-off 0, a signal 128 and more, timeout(1) 124.
 */
enum class exit_code : u8 {
	pass = 0x2a,
	fail = 0x2b,
	panic = EXIT_CODE_PANIC,
};

/*
 * Ends the run, on whatever CPU. Where there is no such device: says so,
 * and stays (x86: Page Up and Page Down turn the screen's pages); other CPUs go
 * on. Any context.
 */
[[noreturn]] void exit(exit_code code);

/*
 * -- The machine's last words (private to boot) --
 *
 * begin_report(); print_report(...); ... ; end_report();
 *
 * One CPU reports, all others stand still: nothing is printed in between, and
 * no lock is waited for without end, whoever holds it. The first CPU that
 * begins is the one; another that comes at the same time stands still too. A
 * CPU that fails in its own report leaves at once.
 */

/* Any context. Returns on one CPU only; the cursor is at a line's start. */
void begin_report();

/* Between begin_report() and end_report(): print() without the lock. */
template <typename... Arguments>
void print_report(format_for<Arguments...> format, Arguments... arguments)
{
	const format_argument list[] = {format_argument(arguments)..., {}};

	print_anyway(format.text, list);
}

/* Leaves with exit_code::panic. */
[[noreturn]] void end_report();

/*
 * Stands still for ever if another CPU reports; else returns whether this CPU
 * does. Any context: a clock's NMI may reach the CPU that reports, too, which
 * must go on.
 */
bool give_way_to_report();

/* -- Where a CPU stood and who called -- */

/*
 * Between begin_report() and end_report(): on which of the CPU's own stacks the
 * pointer stands, and how full that is.
 */
void print_stack(unsigned cpu, usize pointer);

/*
 * Where the calls stand that lead to a frame pointer, innermost first, as far
 * as code built with -fno-omit-frame-pointer has left a trace on the running
 * CPU's thread stack. Stops at an address outside of the kernel's code. Returns
 * how many it has printed.
 */
unsigned print_calls(usize frame_pointer);

} // namespace boot
