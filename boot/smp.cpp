/* SPDX-License-Identifier: MIT */
/*
 * smp - brings the other CPUs up
 *
 * Source: Intel SDM volume 3A, MP Initialization Protocol (INIT-SIPI-SIPI,
 * broadcast to all but self, as in its typical BSP initialization sequence).
 */
#include <boot/apic_driver.hpp>
#include <boot/clock.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/panic.hpp>
#include <boot/percpu.hpp>
#include <boot/smp.hpp>
#include <boot/x86.hpp>
#include <klock/cpu.hpp>

namespace boot {

extern "C" {
/* trampoline.S */
extern const u8 trampoline_start[];
extern const u8 trampoline_end[];

/* Where a starting CPU looks for its block; a null pointer: sleep for good. */
percpu *percpu_by_apic_id[256];
}

namespace {

/* A CPU that has not come this long after the last one is not waited for. */
constexpr u64 patience_seconds = 5;

/* Slots of the list's CPUs: its first one that is not this CPU has slot 1. */
unsigned prepare_all(const cpu_list &found)
{
	unsigned slots = 1;

	for (unsigned i = 0; i < found.count && slots < max_cpus; i++) {
		const u8 id = found.apic_ids[i];

		if (id == cpu_blocks[0].apic_id || percpu_by_apic_id[id])
			continue;
		prepare_cpu(slots, slots, id);
		cpu_blocks[slots].state.store_release(cpu_expected);
		percpu_by_apic_id[id] = &cpu_blocks[slots];
		slots++;
	}
	return slots;
}

void call_all()
{
	__builtin_memcpy(physical<u8>(TRAMPOLINE_ADDRESS), trampoline_start,
			 static_cast<usize>(trampoline_end - trampoline_start));

	broadcast_init();
	delay_us(10'000);
	broadcast_startup(TRAMPOLINE_ADDRESS / 4096);
	delay_us(200);
	broadcast_startup(TRAMPOLINE_ADDRESS / 4096);
}

unsigned count_online(unsigned slots)
{
	unsigned n = 0;

	for (unsigned slot = 0; slot < slots; slot++)
		n += cpu_blocks[slot].state.load_acquire() == cpu_online;
	return n;
}

void wait_for_all(unsigned slots)
{
	const u64 patience = patience_seconds * tsc_hz();
	unsigned online = 0;
	u64 since = klock::cycles();

	while (online < slots && klock::cycles() - since < patience) {
		const unsigned now = count_online(slots);

		if (now != online)
			since = klock::cycles();
		online = now;
		klock::cpu_relax();
	}
}

/* Numbers without gaps; who comes from now on finds that it is too late. */
unsigned number_all(unsigned slots)
{
	unsigned n = 0;

	for (unsigned slot = 0; slot < slots; slot++) {
		percpu &cpu = cpu_blocks[slot];
		u32 expected = cpu_expected;

		if (cpu.state.compare_exchange_acq_rel(expected,
						       cpu_given_up)) {
			print("# boot: the CPU with APIC id %u did not start: "
			      "left out\n",
			      cpu.apic_id);
			continue;
		}
		cpu.number = n;
		cpus[n++] = &cpu;
	}
	return n;
}

} // namespace

/* Where the other CPUs' C++ begins; called by ap_entry (entry.S). */
extern "C" [[noreturn]] void ap_main(percpu *cpu)
{
	u32 expected = cpu_expected;

	load_segments(*cpu, stacks[cpu - cpu_blocks]);
	load_idt();
	apic_enable();
	if (!cpu->state.compare_exchange_acq_rel(expected, cpu_online)) {
		for (;;)
			asm volatile("cli\n\thlt");
	}
	idle(*cpu);
}

void start_cpus(const cpu_list &found)
{
	cpu_blocks[0].apic_id = apic_id(); /* alone, it still has an id */
	if (found.count > 1) {
		const unsigned slots = prepare_all(found);

		call_all();
		wait_for_all(slots);
		set_cpu_count(number_all(slots));
	}
	print("# boot: %u CPU%s\n", cpu_count(), cpu_count() == 1 ? "" : "s");
}

} // namespace boot
