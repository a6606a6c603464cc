/* SPDX-License-Identifier: MIT */
/*
 * cpu - what a waiting CPU does, and its clock: x86, 32 and 64 bits
 *
 * Source: Intel SDM volume 2B, PAUSE and RDTSC; volume 3B, 18.17 (time-stamp
 * counter). PAUSE tells the CPU that this is a wait: it leaves the core's
 * resources to its hyper-thread and does not pay for the memory-order
 * violation when the awaited line changes. It takes 10 to 140 cycles,
 * depending on the CPU: measure it (klock/calibrate.hpp), never assume it.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* Bytes that one CPU's write takes away from the others. */
inline constexpr usize cache_line = 64;

/* One turn of a wait. Any context. */
inline void cpu_relax() { asm volatile("pause" ::: "memory"); }

/* The time-stamp counter: not serialised, not a count of core cycles. */
inline u64 cycles()
{
	u32 low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return static_cast<u64>(high) << 32 | low;
}

} // namespace klock::arch
