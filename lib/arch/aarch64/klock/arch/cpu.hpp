/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's clock and its cache line: AArch64
 *
 * Source: Arm ARM (DDI 0487), the Generic Timer, CNTVCT_EL0. It counts at a
 * fixed rate, CNTFRQ_EL0: from 1 MHz to 1 GHz, not the core's cycles.
 */
#pragma once

#include <klock/arch/cache_line.hpp>
#include <klock/types.hpp>

namespace klock::arch {

/* ISB: else the counter is read before what stands before it. */
inline u64 cycles()
{
	u64 now;

	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now)::"memory");
	return now;
}

/* DSB: accesses that were begun are over; ISB: nothing later has begun. */
inline u64 cycles_begin()
{
	u64 now;

	asm volatile("dsb sy\n\tisb\n\tmrs %0, cntvct_el0\n\tisb"
		     : "=r"(now)::"memory");
	return now;
}

inline u64 cycles_end() { return cycles_begin(); }

/* Every CPU has the counter, and at EL1 and above may read it. */
inline bool cycles_usable() { return true; }
inline u64 cycles_if_usable() { return cycles(); }
inline bool cycles_steady() { return true; }

} // namespace klock::arch
