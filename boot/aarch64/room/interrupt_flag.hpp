/* SPDX-License-Identifier: MIT */
/*
 * interrupt_flag - whether this CPU takes interrupts, and its sleep: AArch64
 *
 * Source: Arm ARM (DDI 0487), DAIF. Interrupts are IRQs; an NMI is an FIQ, and
 * that is masked while another is handled only.
 */
#pragma once

namespace boot {

inline void enable_interrupts()
{
	asm volatile("msr daifclr, #2" ::: "memory");
}

inline void disable_interrupts()
{
	asm volatile("msr daifset, #2" ::: "memory");
}

/* WFI ends for what is masked, too (Arm ARM, D1.7); ISB: it is taken now. */
inline void wait_for_interrupt()
{
	asm volatile("dsb sy\n\twfi\n\tmsr daifclr, #2\n\tisb" ::: "memory");
}

/* A masked IRQ that is pending ends each WFI at once: YIELD, for QEMU. */
[[noreturn]] inline void halt()
{
	for (;;)
		asm volatile("msr daifset, #2\n\twfi\n\tyield" ::: "memory");
}

} // namespace boot
