/* SPDX-License-Identifier: MIT */
/*
 * relax - stands in front of the hosted port's: a watcher is told of each turn
 */
#pragma once

#include <klock/arch/cpu.hpp>

namespace klock::arch {

/* The CPU's own hint that this is a wait, where it has one. */
inline void cpu_hint()
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
	asm volatile("" ::: "memory");
}

/* Never gives the core away: a watcher may. */
inline void cpu_relax()
{
	cpu_hint();
	if (watched_by)
		watched_by->turn();
}

} // namespace klock::arch
