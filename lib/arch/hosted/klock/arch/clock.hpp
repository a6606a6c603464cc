/* SPDX-License-Identifier: MIT */
/*
 * clock - a thread's clock: any host with POSIX threads
 *
 * A header of its own, so that a test can put another clock in front of it and
 * keep the rest of cpu.hpp.
 */
#pragma once

#include <klock/types.hpp>

#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace klock::arch {

/* A clock that only grows: the CPU's counter where it can be read, else ns. */
inline u64 cycles()
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	u64 now;
	asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now)::"memory");
	return now;
#else
	timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<u64>(now.tv_sec) * 1000000000u + now.tv_nsec;
#endif
}

/*
 * cycles() for timing a short piece of code: no instruction moves across it.
 * Hosts configure LFENCE to wait for earlier instructions on any x86.
 */
inline u64 cycles_begin()
{
#if defined(__x86_64__) || defined(__i386__)
	asm volatile("lfence" ::: "memory");
	const u64 now = __builtin_ia32_rdtsc();
	asm volatile("lfence" ::: "memory");
	return now;
#else
	asm volatile("" ::: "memory");
	return cycles();
#endif
}

inline u64 cycles_end() { return cycles_begin(); }

inline bool cycles_usable() { return true; }

/* Whether the rate never changes: other clocks than x86's do not. */
inline bool cycles_steady()
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d = 0;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1);
#else
	return true;
#endif
}

} // namespace klock::arch
