/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's clock and its cache line: x86, 32 and 64 bits
 *
 * Source: Intel SDM volume 2B, RDTSC; volume 3B, 18.17 (time-stamp counter).
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* Bytes that one CPU's write takes away from the others. */
inline constexpr usize cache_line = 64;

/* The time-stamp counter: not serialised, not a count of core cycles. */
inline u64 cycles()
{
	u32 low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return static_cast<u64>(high) << 32 | low;
}

/*
 * -- Measuring a short piece of code --
 *
 * Source: Paoloni, "How to Benchmark Code Execution Times on Intel IA-32 and
 * IA-64 Instruction Set Architectures", Intel, 2010, section 3.2.1. CPUID lets
 * nothing pass it in either direction, but its own time varies: it lies outside
 * of what is measured. RDTSCP waits until all before it has been executed.
 */

/* Nothing before it is executed after it, and nothing after it before it. */
inline u64 cycles_begin()
{
	u32 low = 0, high, b, c = 0;

	asm volatile("cpuid\n\trdtsc"
		     : "+a"(low), "=b"(b), "+c"(c), "=d"(high)::"memory");
	return static_cast<u64>(high) << 32 | low;
}

/* As cycles_begin(). Faults where cycles_usable() is false: no RDTSCP. */
inline u64 cycles_end()
{
	u32 low, high;

	asm volatile("rdtscp\n\tmov %%eax, %0\n\tmov %%edx, %1\n\t"
		     "xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\tcpuid"
		     : "=&r"(low), "=&r"(high)::"eax", "ebx", "ecx", "edx",
		       "memory");
	return static_cast<u64>(high) << 32 | low;
}

/* EDX of a CPUID leaf above 0x80000000; 0 where there is no such leaf. */
inline u32 cpuid_extended_edx(u32 leaf)
{
	u32 a = 0x80000000, b, c, d;

	asm("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	if (a < leaf)
		return 0;
	a = leaf;
	asm("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
	return d;
}

/* Whether the instructions exist: RDTSCP (whoever has it has RDTSC). */
inline bool cycles_usable() { return cpuid_extended_edx(0x80000001) >> 27 & 1; }
/* No kernel traps it (CR4.TSD is about user mode). */
inline u64 cycles_if_usable() { return cycles(); }

/* Whether the rate never changes: invariant TSC (SDM volume 3B, 18.17.1). */
inline bool cycles_steady() { return cpuid_extended_edx(0x80000007) >> 8 & 1; }

} // namespace klock::arch
