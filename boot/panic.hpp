/* SPDX-License-Identifier: MIT */
/*
 * panic - the end, with the reason
 */
#pragma once

#include <boot/format.hpp>
#include <boot/types.hpp>

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

} // namespace boot
