/* SPDX-License-Identifier: MIT */
/*
 * relax - gives the host core to the next vCPU: machine mode
 *
 * The supervisor's software interrupt is always pending and enabled
 * (mode_cpu_init()), and never taken: it is delegated to a mode that nobody is
 * in. So WFI returns at once, and no other interrupt is missed by it.
 */
#include <boot/pause.hpp>

extern "C" void boot_relax()
{
	if (boot::pauses_yield())
		asm volatile("wfi" ::: "memory");
	boot::visit_pause(
		reinterpret_cast<boot::usize>(__builtin_return_address(0)));
}
