/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt flag: RISC-V, S-mode or M-mode
 *
 * Source: the privileged specification, sstatus and mstatus. Which of the two,
 * irq_register.hpp says.
 */
#pragma once

#include <klock/arch/irq_register.hpp>
#include <klock/types.hpp>

namespace klock::arch {

/* The status register of before irq_save(). */
using irq_state = usize;

/* Whether this CPU would take an interrupt now. */
[[nodiscard]] inline bool irqs_enabled()
{
	irq_state now;

	asm volatile("csrr %0, %1" : "=r"(now) : "i"(status_csr) : "memory");
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

	asm volatile("csrrci %0, %1, %2"
		     : "=r"(before)
		     : "i"(status_csr), "i"(irq_flag)
		     : "memory");
	return before;
}

/* Back to what irq_save() returned; never disables what it found enabled. */
inline void irq_restore(irq_state before)
{
	if (before & irq_flag)
		asm volatile("csrsi %0, %1" ::"i"(status_csr), "i"(irq_flag)
			     : "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
