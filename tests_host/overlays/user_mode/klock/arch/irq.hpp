/* SPDX-License-Identifier: MIT */
/*
 * irq - stands in front of the x86 port's: user mode has no interrupt flag
 *
 * CLI and STI fault there. Whatever else the bench measures is what a kernel
 * runs. What they would say is remembered: host_parking.hpp asks.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

using irq_state = bool;

inline thread_local constinit bool irq_flag = true;

[[nodiscard]] inline irq_state irq_save()
{
	const irq_state before = irq_flag;

	irq_flag = false;
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
