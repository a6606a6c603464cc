/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt mask: AArch64, EL1 or EL2
 *
 * Source: Arm ARM (DDI 0487), DAIF. I masks IRQ. F is left alone: FIQ is to a
 * lock what an NMI is, unless your kernel takes its interrupts by it. Where
 * it does, or where it masks by the interrupt controller's priority, put an
 * irq.hpp of your own in front on the include path.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* DAIF of before irq_save(). */
using irq_state = usize;

inline constexpr irq_state irq_mask = 0x80; /* DAIF.I */

/* Whether this CPU would take an interrupt now. */
[[nodiscard]] inline bool irqs_enabled()
{
	irq_state now;

	asm volatile("mrs %0, daif" : "=r"(now)::"memory");
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

	asm volatile("mrs %0, daif\n\tmsr daifset, #2"
		     : "=r"(before)::"memory");
	return before;
}

/* Back to what irq_save() returned; never masks what it found enabled. */
inline void irq_restore(irq_state before)
{
	if (!(before & irq_mask))
		asm volatile("msr daifclr, #2" ::: "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
