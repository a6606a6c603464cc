/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt flag: x86, 32 and 64 bits, ring 0
 *
 * Source: Intel SDM volume 2, PUSHF, CLI, STI; volume 3A, 6.8.1 (IF).
 * CLI and STI fault in user mode unless IOPL allows them: user-mode programs
 * put another irq.hpp in front on the include path.
 *
 * Right with a red zone, too. An asm statement that pushes overwrites what a
 * leaf function keeps below its stack pointer, and nothing warns. The builtin
 * that reads the flags is no way out: where GCC 12 has no register left for it,
 * at -O3, it pops them into the word beside the one that it then reads.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* The flags register of before irq_save(). */
using irq_state = usize;

inline constexpr irq_state irq_flag = 0x200; /* EFLAGS.IF */

/* The flags register. 128 bytes: the red zone (System V AMD64 ABI, 3.2.2). */
inline irq_state read_flags()
{
	irq_state flags;

#if defined(__x86_64__)
	asm volatile("lea -128(%%rsp), %%rsp\n\tpushf\n\tpop %0\n\t"
		     "sub $-128, %%rsp"
		     : "=r"(flags)::"memory");
#else
	asm volatile("pushf\n\tpop %0" : "=r"(flags)::"memory");
#endif
	return flags;
}

/*
 * Disables maskable interrupts on this CPU and returns what was before. An
 * interrupt between the two instructions leaves the flag as it finds it.
 * "memory": nothing moves out of the critical section that this opens.
 */
[[nodiscard]] inline irq_state irq_save()
{
	const irq_state flags = read_flags();

	asm volatile("cli" ::: "memory");
	return flags;
}

/* Whether this CPU would take a maskable interrupt now. */
[[nodiscard]] inline bool irqs_enabled() { return read_flags() & irq_flag; }

/* Back to what irq_save() returned; never disables what it found enabled. */
inline void irq_restore(irq_state flags)
{
	if (flags & irq_flag)
		asm volatile("sti" ::: "memory");
	else
		asm volatile("" ::: "memory");
}

} // namespace klock::arch
