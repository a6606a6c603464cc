/* SPDX-License-Identifier: MIT */
/*
 * irq - stands in front of the x86 port's: user mode has no interrupt flag
 *
 * CLI and STI fault there: a variable of the thread is the flag, which tells
 * unpark() that it is called under an inner lock. Whatever else the bench
 * measures is what a kernel runs.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

using irq_state = usize;

inline thread_local constinit irq_state irq_flag = 1;

[[nodiscard]] inline irq_state irq_save()
{
	const irq_state before = irq_flag;

	irq_flag = 0;
	asm volatile("" ::: "memory");
	return before;
}

inline void irq_restore(irq_state before)
{
	asm volatile("" ::: "memory");
	irq_flag = before;
}

[[nodiscard]] inline bool irqs_enabled() { return irq_flag; }

} // namespace klock::arch
