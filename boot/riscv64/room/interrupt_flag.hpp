/* SPDX-License-Identifier: MIT */
/*
 * interrupt_flag - whether this CPU takes interrupts: RISC-V
 *
 * Source: RISC-V ISA manual, volume II, Machine Status Registers, Wait for
 * Interrupt.
 */
#pragma once

#include <boot/riscv64/csr.hpp>
#include <mode/sleep.hpp>

namespace boot {

/* Any context; a handler leaves it alone. */
inline void enable_interrupts() { set_csr_bits<CSR_STATUS>(STATUS_INTERRUPTS); }

inline void disable_interrupts()
{
	clear_csr_bits<CSR_STATUS>(STATUS_INTERRUPTS);
}

/*
 * Sleeps until an interrupt has been handled. To be called with interrupts off,
 * after a look at what is waited for; returns with interrupts on. Whatever
 * comes after the look wakes: WFI ends for what is pending, although interrupts
 * are off.
 */
inline void wait_for_interrupt()
{
	while (!(read_csr<CSR_PENDING>() & (software_bit | timer_bit)))
		sleep_until_pending();
	enable_interrupts();
}

/* For good. */
[[noreturn]] inline void halt()
{
	disable_interrupts();
	write_csr<CSR_ENABLE>(0);
	for (;;)
		asm volatile("wfi");
}

} // namespace boot
