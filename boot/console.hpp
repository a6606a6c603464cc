/* SPDX-License-Identifier: MIT */
/*
 * console - text for whoever watches: serial line and screen at once
 *
 * The serial line gets CR LF for each '\n', as a terminal wants it. Boot's own
 * lines begin with "# ", a comment to readers of TAP and of CSV.
 */
#pragma once

#include <boot/format.hpp>
#include <boot/types.hpp>

namespace boot {

void print_list(const char *format, const format_argument *arguments);

/*
 * Prints the whole text with nothing of another CPU in between: an irq_guard on
 * the console's ticket lock. Formats: format.hpp. '\r' goes back to the line's
 * start. Context: thread and interrupts; not NMI, whose interrupted code may
 * hold the lock.
 */
template <typename... Arguments>
void print(format_for<Arguments...> format, Arguments... arguments)
{
	const format_argument list[] = {format_argument(arguments)..., {}};

	print_list(format.text, list);
}

/*
 * -- For boot's last words only (panic.hpp): in any context, with the lock if
 * it can be had soon; else without it, then and ever after. --
 */
void print_anyway(const char *format, const format_argument *arguments);

/* Begins a new line unless the cursor is at the start of one. */
void start_line_anyway();

} // namespace boot
