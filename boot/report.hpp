/* SPDX-License-Identifier: MIT */
/*
 * report - the machine's last words (private to boot)
 *
 * begin_report(); print_report(...); ... ; end_report();
 *
 * One CPU reports, all others stand still: nothing is printed in between, and
 * no lock is waited for without end, whoever holds it. The first CPU that
 * begins is the one; another that comes at the same time stands still too. A
 * CPU that fails in its own report leaves at once.
 */
#pragma once

#include <boot/console.hpp>
#include <boot/types.hpp>

namespace boot {

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
 * Whether this CPU reports. Stands still for ever if another does. Any context:
 * a clock's NMI may come to the CPU that reports, too, which must go on.
 */
bool is_reporting();

/* -- Where a CPU stood and who called -- */

/*
 * Between begin_report() and end_report(): on which of the CPU's own stacks the
 * pointer stands, and how full that is.
 */
void print_stack(unsigned cpu, usize pointer);

/*
 * Where the calls stand that lead to a frame pointer, innermost first, as far
 * as code built with -fno-omit-frame-pointer has left a trace on the running
 * CPU's thread stack.
 */
void print_calls(usize frame_pointer);

} // namespace boot
