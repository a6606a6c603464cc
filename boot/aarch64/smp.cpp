/* SPDX-License-Identifier: MIT */
/*
 * smp - which CPUs there are, and how they are called: AArch64
 */
#include <boot/aarch64/machine_tree.hpp>
#include <boot/aarch64/psci.hpp>
#include <boot/aarch64/system.hpp>
#include <boot/board/cpus.hpp>
#include <boot/console.hpp>
#include <boot/interrupts.hpp>
#include <boot/ipi.hpp>
#include <boot/percpu.hpp>
#include <boot/machine.hpp>

namespace boot {

extern "C" {
/* entry.S, vectors.S */
extern const u8 ap_entry[];
extern const u8 exception_vectors[];
}

namespace {

/* Null, or why there is one CPU only. */
const char *why_alone()
{
	if (!has_ipis())
		return "no IPIs";
	if (!has_psci())
		return "the device tree has no PSCI";
	return nullptr;
}

} // namespace

void cpu_init(percpu &cpu, cpu_stacks &)
{
	write_tpidr(reinterpret_cast<u64>(&cpu));
	write_vbar(reinterpret_cast<u64>(exception_vectors));
	instruction_barrier();
	asm volatile("msr daifclr, #4" ::: "memory"); /* SError: reported */
}

/* cpu_init() has done it. */
void interrupts_init() {}

cpu_list find_cpus(const boot_info &)
{
	return tree_cpus(machine_tree(), why_alone());
}

void call_cpus(unsigned slots)
{
	for (unsigned slot = 1; slot < slots; slot++) {
		percpu &cpu = cpu_blocks[slot];
		const i64 error = psci_cpu_on(cpu.hardware_id, ap_entry, &cpu);

		if (error)
			print("# boot: PSCI does not start MPIDR 0x%x: %d\n",
			      cpu.hardware_id, error);
	}
}

} // namespace boot
