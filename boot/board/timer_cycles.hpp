/* SPDX-License-Identifier: MIT */
/*
 * timer_cycles - a time for a timer that counts what klock::cycles() counts
 */
#pragma once

#include <boot/clock.hpp>

namespace boot {

/* As ipi.hpp has it: one at least, and no more than what 32 bits hold. */
inline u64 timer_cycles(u64 ns)
{
	const u64 longest = cycles_to_ns(~u32{0});
	const u64 cycles = ns_to_cycles(ns < longest ? ns : longest);

	return cycles ? cycles : 1;
}

} // namespace boot
