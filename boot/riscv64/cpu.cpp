/* SPDX-License-Identifier: MIT */
/*
 * cpu - a hart's registers on its way up: RISC-V
 */
#include <boot/interrupts.hpp>
#include <boot/percpu.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/mode.hpp>
#include <boot/machine.hpp>

namespace boot {

/* traps.S */
extern "C" void trap_entry();

void cpu_init(percpu &cpu, cpu_stacks &own)
{
	percpu_part &part = cpu.machine;
	const usize bottom = reinterpret_cast<usize>(own.thread);
	const usize top = reinterpret_cast<usize>(&own + 1);

	part.block = &cpu;
	part.stack_low = bottom + sizeof(interrupt_frame);
	part.stack_span = top - part.stack_low + 1;
	part.fault_stack_top = top;

	asm volatile("mv tp, %0" ::"r"(&cpu));
	write_csr<CSR_SCRATCH>(reinterpret_cast<usize>(&part));
	write_csr<CSR_VECTOR>(reinterpret_cast<usize>(trap_entry));
	mode_cpu_init(cpu);
}

/* cpu_init() has done it. */
void interrupts_init() {}

} // namespace boot
