/* SPDX-License-Identifier: MIT */
/*
 * interrupt_flag - whether this CPU takes interrupts, and its sleep: x86
 */
#pragma once

namespace boot {

inline void enable_interrupts() { asm volatile("sti" ::: "memory"); }

inline void disable_interrupts() { asm volatile("cli" ::: "memory"); }

/* STI lets no interrupt in before HLT has begun (Intel SDM volume 2B, STI). */
inline void wait_for_interrupt() { asm volatile("sti\n\thlt" ::: "memory"); }

[[noreturn]] inline void halt()
{
	for (;;)
		asm volatile("cli\n\thlt");
}

} // namespace boot
