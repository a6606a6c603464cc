/* SPDX-License-Identifier: MIT */
/*
 * board - what machines with a device tree have in common
 */
#pragma once

#include <boot/board/device_tree.hpp>
#include <boot/machine.hpp>
#include <boot/clock.hpp>

namespace boot {

/* -- The CPUs that a device tree names -- */

/*
 * As machine.hpp's find_cpus(): as many as boot has room for, and what is left
 * out is said. why_alone: null, or why this CPU is the only one to be used.
 */
cpu_list tree_cpus(const device_tree &tree, const char *why_alone);

/* -- A time for a timer that counts what klock::cycles() counts -- */

/* As a payload asks for it: one at least, no more than what 32 bits hold. */
inline u64 timer_cycles(u64 ns)
{
	const u64 longest = cycles_to_ns(~u32{0});
	const u64 cycles = ns_to_cycles(ns < longest ? ns : longest);

	return cycles ? cycles : 1;
}

} // namespace boot
