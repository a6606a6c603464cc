/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's clock and its cache line: RISC-V
 *
 * Source: the unprivileged specification, Zicntr: `time` counts at a fixed
 * rate, one for all CPUs of a machine, 1 to 100 MHz on most. In S-mode every
 * firmware supplies it. A CPU may lack it in M-mode: a kernel that runs there,
 * on such a CPU, puts a cpu.hpp in front that reads the timer's mtime.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* Bytes that one CPU's write takes away from the others. */
inline constexpr usize cache_line = 64;

inline u64 cycles()
{
	u64 now;

	asm volatile("rdtime %0" : "=r"(now));
	return now;
}

/* Reading the counter is an input to FENCE: memory on both sides of it. */
inline u64 cycles_begin()
{
	u64 now;

	asm volatile("fence iorw, iorw\n\trdtime %0\n\tfence iorw, iorw"
		     : "=r"(now)::"memory");
	return now;
}

inline u64 cycles_end() { return cycles_begin(); }

inline bool cycles_usable() { return true; }
inline bool cycles_steady() { return true; }

} // namespace klock::arch
