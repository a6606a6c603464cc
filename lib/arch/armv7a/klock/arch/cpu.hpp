/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's clock and its cache line: ARMv7-A
 *
 * Source: Arm ARM (DDI 0406), the Generic Timer, CNTVCT. It counts at a fixed
 * rate, CNTFRQ. It is an extension: Cortex-A7, A15, A17 and every Armv8 core
 * have it, Cortex-A5, A8 and A9 do not. A kernel for one of those puts a
 * cpu.hpp in front that reads a timer of the board.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* Bytes that one CPU's write takes away from the others: 64, on A5 and A9 32.
 */
inline constexpr usize cache_line = 64;

/* ISB: else the counter is read before what stands before it. */
inline u64 cycles()
{
	u32 low, high;

	asm volatile("isb\n\tmrrc p15, 1, %0, %1, c14"
		     : "=r"(low), "=r"(high)::"memory");
	return u64{high} << 32 | low;
}

/* DSB: accesses that were begun are over; ISB: nothing later has begun. */
inline u64 cycles_begin()
{
	u32 low, high;

	asm volatile("dsb sy\n\tisb\n\tmrrc p15, 1, %0, %1, c14\n\tisb"
		     : "=r"(low), "=r"(high)::"memory");
	return u64{high} << 32 | low;
}

inline u64 cycles_end() { return cycles_begin(); }

/* Whether there is a Generic Timer: ID_PFR1, bits 16 to 19. */
inline bool cycles_usable()
{
	u32 features;

	asm("mrc p15, 0, %0, c0, c1, 1" : "=r"(features));
	return features >> 16 & 15;
}

/* The result of cycles_usable(): 0 none yet, 1 no, 2 yes. */
inline constinit u8 clock_is_usable = 0;

/* A hypervisor may trap the read of ID_PFR1, so it is read once. Many CPUs may
 * ask first: all get the same answer. */
inline u64 cycles_if_usable()
{
	u8 known = __atomic_load_n(&clock_is_usable, __ATOMIC_RELAXED);

	if (known == 0) {
		known = cycles_usable() ? 2 : 1;
		__atomic_store_n(&clock_is_usable, known, __ATOMIC_RELAXED);
	}
	return known == 2 ? cycles() : 0;
}

inline bool cycles_steady() { return true; }

} // namespace klock::arch
