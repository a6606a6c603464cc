/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt flag: RISC-V, S-mode
 *
 * Source: the privileged specification, sstatus.SIE. A kernel that
 * runs in M-mode has -I .../riscv/machine in front of this on its include path.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* sstatus of before irq_save(). */
using irq_state = usize;

inline constexpr irq_state irq_flag = 2; /* sstatus.SIE */

/* Whether this CPU would take an interrupt now. */
[[nodiscard]] inline bool irqs_enabled()
{
	irq_state now;

	asm volatile("csrr %0, sstatus" : "=r"(now)::"memory");
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

	asm volatile("csrrci %0, sstatus, 2" : "=r"(before)::"memory");
	return before;
}

/* Back to what irq_save() returned; never disables what it found enabled. */
inline void irq_restore(irq_state before)
{
	if (before & irq_flag)
		asm volatile("csrsi sstatus, 2" ::: "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
