/* SPDX-License-Identifier: MIT */
/*
 * sleep - until an interrupt is pending: machine mode
 */
#pragma once

#include <boot/riscv64/csr.hpp>

namespace boot {

/*
 * With interrupts off. May end early, as WFI may. The supervisor's software
 * interrupt is always pending, for the lab's cpu_relax(): it must not count
 * here.
 */
inline void sleep_until_pending()
{
	constexpr usize always = usize{1} << INTERRUPT_SUPERVISOR_SOFTWARE;

	clear_csr_bits<CSR_ENABLE>(always);
	asm volatile("wfi" ::: "memory");
	set_csr_bits<CSR_ENABLE>(always);
}

} // namespace boot
