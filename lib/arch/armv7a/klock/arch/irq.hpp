/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt mask: ARMv7-A, any mode but user
 *
 * Source: Arm ARM (DDI 0406), CPSR. I masks IRQ. F is left alone: FIQ is to a
 * lock what an NMI is, unless your kernel takes its interrupts by it. Where
 * it does, or where it masks by the interrupt controller's priority, put an
 * irq.hpp of your own in front on the include path.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* CPSR of before irq_save(). */
using irq_state = usize;

inline constexpr irq_state irq_mask = 0x80; /* CPSR.I */

/* Whether this CPU would take an interrupt now. */
[[nodiscard]] inline bool irqs_enabled()
{
	irq_state now;

	asm volatile("mrs %0, cpsr" : "=r"(now)::"memory");
	return !(now & irq_mask);
}

/*
 * Masks interrupts on this CPU and returns what was before. An interrupt
 * between the two instructions leaves the mask as it finds it. "memory":
 * nothing moves out of the critical section that this opens.
 */
[[nodiscard]] inline irq_state irq_save()
{
	irq_state before;

	asm volatile("mrs %0, cpsr\n\tcpsid i" : "=r"(before)::"memory");
	return before;
}

/* Back to what irq_save() returned; never masks what it found enabled. */
inline void irq_restore(irq_state before)
{
	if (!(before & irq_mask))
		asm volatile("cpsie i" ::: "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
