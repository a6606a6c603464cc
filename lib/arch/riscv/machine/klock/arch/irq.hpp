/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt flag: RISC-V, M-mode
 *
 * Source: the privileged specification, mstatus.MIE. To be in
 * front of the port's own on the include path: -I .../riscv/machine.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* mstatus of before irq_save(). */
using irq_state = usize;

inline constexpr irq_state irq_flag = 8; /* mstatus.MIE */

/* Whether this CPU would take an interrupt now. */
[[nodiscard]] inline bool irqs_enabled()
{
	irq_state now;

	asm volatile("csrr %0, mstatus" : "=r"(now)::"memory");
	return now & irq_flag;
}

/*
 * Disables interrupts on this CPU and returns what was before, in one
 * instruction. "memory": nothing moves out of the critical section that this
 * opens.
 */
[[nodiscard]] inline irq_state irq_save()
{
	irq_state before;

	asm volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
	return before;
}

/* Back to what irq_save() returned; never disables what it found enabled. */
inline void irq_restore(irq_state before)
{
	if (before & irq_flag)
		asm volatile("csrsi mstatus, 8" ::: "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
