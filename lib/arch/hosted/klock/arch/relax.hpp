/* SPDX-License-Identifier: MIT */
/*
 * relax - what a waiting thread does: any host with POSIX threads
 *
 * A host has more threads than cores, and the thread that is waited for may be
 * one that does not run: a wait that lasts gives the core away. A kernel port
 * must not do that.
 */
#pragma once

#include <klock/types.hpp>

#include <sched.h>

namespace klock::arch {

/* The CPU's own hint that this is a wait. */
inline void cpu_hint()
{
#if defined(__x86_64__) || defined(__i386__)
	asm volatile("pause" ::: "memory");
#elif defined(__aarch64__)
	/* ISB really waits on common cores, where YIELD is a no-op. */
	asm volatile("isb" ::: "memory");
#elif defined(__arm__)
	asm volatile("yield" ::: "memory");
#else
	asm volatile("" ::: "memory");
#endif
}

/*
 * One turn of a wait. Every relaxes_a_yield turns of this thread the core goes
 * to whoever else can run; the count is the thread's, so that the wait loop
 * itself carries nothing from one turn to the next.
 */
inline constexpr u32 relaxes_a_yield = 128;

inline void cpu_relax()
{
	static thread_local constinit u32 turns = 0;

	cpu_hint();
	if (++turns % relaxes_a_yield == 0)
		sched_yield();
}

} // namespace klock::arch
