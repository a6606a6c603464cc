/* SPDX-License-Identifier: MIT */
/*
 * smp - calls the other CPUs: x86
 *
 * Source: Intel SDM volume 3A, MP Initialization Protocol (INIT-SIPI-SIPI,
 * broadcast to all but self, as in its typical BSP initialization sequence).
 */
#include <boot/clock.hpp>
#include <boot/percpu.hpp>
#include <boot/room.hpp>
#include <boot/x86/apic_driver.hpp>
#include <boot/x86/segments.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

extern "C" {
/* trampoline.S */
extern const u8 trampoline_start[];
extern const u8 trampoline_end[];

/* Where a starting CPU looks for its block; a null pointer: sleep for good. */
percpu *percpu_by_apic_id[256];
}

void cpu_init(percpu &cpu, cpu_stacks &own)
{
	load_segments(cpu, own);
	/* The first CPU's is not made yet: interrupts_init() comes next. */
	load_idt();
}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++)
		percpu_by_apic_id[cpu_blocks[slot].hardware_id] =
			&cpu_blocks[slot];
	__builtin_memcpy(physical<u8>(TRAMPOLINE_ADDRESS), trampoline_start,
			 static_cast<usize>(trampoline_end - trampoline_start));

	broadcast_init();
	delay_us(10'000);
	broadcast_startup(TRAMPOLINE_ADDRESS / 4096);
	delay_us(200);
	broadcast_startup(TRAMPOLINE_ADDRESS / 4096);
}

} // namespace boot
