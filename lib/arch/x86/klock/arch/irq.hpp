/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt flag: x86, 32 and 64 bits, ring 0
 *
 * Source: Intel SDM volume 2, PUSHF, CLI, STI; volume 3A, 6.8.1 (IF).
 * CLI and STI fault in user mode unless IOPL allows them: user-mode programs
 * put another irq.hpp in front on the include path.
 *
 * The caller's code is built with -mno-red-zone, as every kernel's is: PUSHF
 * would overwrite a red zone.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* The flags register of before irq_save(). */
using irq_state = usize;

inline constexpr irq_state irq_flag = 0x200; /* EFLAGS.IF */

/*
 * Disables maskable interrupts on this CPU and returns what was before.
 * "memory": nothing moves out of the section that this opens.
 */
[[nodiscard]] inline irq_state irq_save()
{
	irq_state flags;

	asm volatile("pushf\n\tpop %0\n\tcli" : "=r"(flags)::"memory");
	return flags;
}

/* Whether this CPU would take a maskable interrupt now. */
[[nodiscard]] inline bool irqs_enabled()
{
	irq_state flags;

	asm volatile("pushf\n\tpop %0" : "=r"(flags)::"memory");
	return flags & irq_flag;
}

/* Back to what irq_save() returned; never disables what it found enabled. */
inline void irq_restore(irq_state flags)
{
	if (flags & irq_flag)
		asm volatile("sti" ::: "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
