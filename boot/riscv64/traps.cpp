/* SPDX-License-Identifier: MIT */
/*
 * traps - from trap_entry to handlers and reports, and a hart's registers:
 * RISC-V
 */
#include <boot/interrupts.hpp>
#include <boot/riscv64/board.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/panic.hpp>
#include <boot/machine.hpp>

namespace boot {

namespace {

constexpr usize is_interrupt = ~(~usize{0} >> 1);

void exception(interrupt_frame &frame)
{
	const interrupt_handler handler =
		frame.cause < vector_nmi
			? handler_of(static_cast<u8>(frame.cause))
			: nullptr;

	if (!handler)
		report_exception(frame);
	handler(frame);
}

} // namespace

extern "C" void trap_dispatch(interrupt_frame *frame)
{
	if (!(frame->cause & is_interrupt))
		exception(*frame);
	else if (frame->cause == (is_interrupt | INTERRUPT_SOFTWARE))
		software_interrupt(*frame);
	else if (frame->cause == (is_interrupt | INTERRUPT_TIMER))
		timer_interrupt(*frame);
	else
		report_exception(*frame);
}

void handle(u8 vector, interrupt_frame &frame)
{
	const interrupt_handler handler = handler_of(vector);

	if (!handler)
		report_no_handler(frame, vector);
	handler(frame);
}

/*
 * -- The report of what nobody handles --
 *
 * Source: RISC-V ISA manual, volume II, table "Machine cause register (mcause)
 * values after trap".
 */

namespace {

constexpr const char *names[16] = {
	"instruction address misaligned",
	"instruction access fault",
	"illegal instruction",
	"breakpoint",
	"load address misaligned",
	"load access fault",
	"store address misaligned",
	"store access fault",
	"call from user mode",
	"call from supervisor mode",
	"reserved",
	"call from machine mode",
	"instruction page fault",
	"load page fault",
	"reserved",
	"store page fault",
};

/*
 * Returns the start of the chain of calls. A function that makes no calls keeps
 * its caller's frame pointer where others keep the return address, which it has
 * in RA (GCC 12): the chain goes on with the caller's.
 */
usize first_of_calls(const interrupt_frame &frame)
{
	const cpu_stacks &own = stacks[cpus[this_cpu()] - cpu_blocks];
	const usize low = reinterpret_cast<usize>(own.thread);
	const usize high = reinterpret_cast<usize>(own.nmi);
	const usize at = frame.frame_pointer();

	if (at % sizeof(usize) || at < low + FRAME_LINK_BELOW || at > high)
		return at;
	const usize kept = *reinterpret_cast<const usize *>(at - sizeof(usize));

	return kept > at && kept <= high ? kept : at;
}

void print_registers(const interrupt_frame &f)
{
	print_report("  pc  %016x  sp  %016x  ra  %016x\n", f.ip, f.sp, f.ra);
	print_report("  gp  %016x  tp  %016x  s0  %016x\n", f.gp, f.tp, f.s0);
	print_report("  a0  %016x  a1  %016x  a2  %016x\n", f.a0, f.a1, f.a2);
	print_report("  a3  %016x  a4  %016x  a5  %016x\n", f.a3, f.a4, f.a5);
	print_report("  a6  %016x  a7  %016x  t0  %016x\n", f.a6, f.a7, f.t0);
	print_report("  t1  %016x  t2  %016x  t3  %016x\n", f.t1, f.t2, f.t3);
	print_report("  t4  %016x  t5  %016x  t6  %016x\n", f.t4, f.t5, f.t6);
	print_report("  s1  %016x  s2  %016x  s3  %016x\n", f.s1, f.s2, f.s3);
	print_report("  s4  %016x  s5  %016x  s6  %016x\n", f.s4, f.s5, f.s6);
	print_report("  s7  %016x  s8  %016x  s9  %016x\n", f.s7, f.s8, f.s9);
	print_report("  s10 %016x  s11 %016x\n", f.s10, f.s11);
	print_report("  status %016x  enable %04x  pending %04x\n", f.status,
		     read_csr<CSR_ENABLE>(), read_csr<CSR_PENDING>());
}

[[noreturn]] void print_rest(const interrupt_frame &frame)
{
	print_registers(frame);
	print_stack(this_cpu(), frame.stack_pointer());
	(void)print_calls(first_of_calls(frame));
	end_report();
}

} // namespace

void report_exception(const interrupt_frame &frame)
{
	begin_report();
	print_report("PANIC on CPU %u: exception %u, %s, value 0x%x\n",
		     this_cpu(), frame.cause,
		     frame.cause < 16 ? names[frame.cause] : "reserved",
		     frame.value);
	print_rest(frame);
}

void report_no_handler(const interrupt_frame &frame, u8 vector)
{
	begin_report();
	print_report("PANIC on CPU %u: interrupt 0x%02x has no handler\n",
		     this_cpu(), vector);
	print_rest(frame);
}

/* -- A hart's registers on its way up -- */

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

} // namespace boot
