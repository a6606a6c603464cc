/* SPDX-License-Identifier: MIT */
/*
 * smp - calls the other CPUs: x86
 *
 * Source: Intel SDM volume 3A, MP Initialization Protocol (INIT-SIPI-SIPI,
 * broadcast to all but self, as in its typical BSP initialization sequence).
 */
#include <boot/clock.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>
#include <boot/x86/apic.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

extern "C" {
/* trampoline.S */
extern const u8 trampoline_start[];
extern const u8 trampoline_end[];

/* The blocks of starting CPUs; a CPU that finds null sleeps for good. */
percpu *percpu_by_apic_id[APIC_IDS];
}

namespace {

constinit usize startup_page = TRAMPOLINE_ADDRESS;

} // namespace

void cpu_init(percpu &cpu, cpu_stacks &own)
{
	load_segments(cpu, own);
	/* The first CPU's is not made yet: interrupts_init() comes next. */
	load_idt();
	memory_types_init();
}

bool choose_startup_page(const low_pages &free)
{
	startup_page = free.find(TRAMPOLINE_ADDRESS);
	return startup_page != 0;
}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++)
		percpu_by_apic_id[cpu_blocks[slot].hardware_id] =
			&cpu_blocks[slot];
	__builtin_memcpy(physical<u8>(startup_page), trampoline_start,
			 static_cast<usize>(trampoline_end - trampoline_start));

	const u8 vector = static_cast<u8>(startup_page / 4096);

	broadcast_init();
	delay_us(10'000);
	broadcast_startup(vector);
	delay_us(200);
	broadcast_startup(vector);
}

} // namespace boot
