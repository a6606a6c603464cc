/* SPDX-License-Identifier: MIT */
/*
 * exceptions - the report of what nobody handles: AArch64
 *
 * Source: Arm ARM (DDI 0487), ESR_EL1: EC, and ISS encodings of aborts.
 */
#include <boot/aarch64/system.hpp>
#include <boot/cpus.hpp>
#include <boot/percpu.hpp>
#include <boot/panic.hpp>

namespace boot {

namespace {

/* Exception classes */
constexpr u32 class_instruction_abort = 0x21;
constexpr u32 class_data_abort = 0x25;

u32 class_of(const interrupt_frame &frame)
{
	return static_cast<u32>(frame.syndrome >> 26 & 0x3f);
}

const char *name_of(u32 exception_class)
{
	switch (exception_class) {
	case 0x00:
		return "undefined instruction";
	case 0x07:
		return "floating-point instruction";
	case 0x0e:
		return "illegal execution state";
	case 0x15:
		return "supervisor call";
	case 0x18:
		return "system register";
	case class_instruction_abort:
		return "instruction abort";
	case 0x22:
		return "misaligned instruction";
	case class_data_abort:
		return "data abort";
	case 0x26:
		return "misaligned stack";
	case 0x2f:
		return "SError";
	case 0x3c:
		return "breakpoint instruction";
	default:
		return "unknown";
	}
}

/* DFSC and IFSC, less the table's level in their two low bits */
const char *fault_of(u32 status)
{
	switch (status & 0x3c) {
	case 0x00:
		return "the address is too large";
	case 0x04:
		return "its page is not present";
	case 0x08:
		return "its page was never accessed";
	case 0x0c:
		return "its page forbids that";
	case 0x20:
		return (status & 0x3f) == 0x21 ? "it is not aligned"
					       : "an unknown fault";
	default:
		return "nothing answers there";
	}
}

void print_abort(const interrupt_frame &frame, bool fetching)
{
	const u32 status = static_cast<u32>(frame.syndrome & 0x3f);

	print_report("  %s address %p: %s\n",
		     fetching			 ? "fetching from"
		     : frame.syndrome & (1 << 6) ? "writing to"
						 : "reading from",
		     physical<void>(frame.fault_address), fault_of(status));
}

void print_registers(const interrupt_frame &f)
{
	print_report("  pc  %016x  sp  %016x  pstate %08x\n", f.ip, f.sp,
		     f.status);
	for (unsigned n = 0; n < 30; n += 3)
		print_report("  x%-2u %016x  x%-2u %016x  x%-2u %016x\n", n,
			     f.x[n], n + 1, f.x[n + 1], n + 2, f.x[n + 2]);
	print_report("  x30 %016x  esr %016x  far %016x\n", f.x[30], f.syndrome,
		     f.fault_address);
	print_report("  sctlr_el1 %016x  ttbr0_el1 %016x\n", read_sctlr(),
		     read_ttbr0());
}

/*
 * How far the stack reached. A store that moves SP and faults has not moved it:
 * where it wanted to write is in the page below the stack.
 */
usize reach_of(const interrupt_frame &frame)
{
	const cpu_stacks &own = stacks[cpus[this_cpu()] - cpu_blocks];
	const usize guard = reinterpret_cast<usize>(own.guard);
	const bool overflows = class_of(frame) == class_data_abort &&
			       frame.fault_address - guard < GUARD_SIZE;

	return overflows ? frame.fault_address : frame.stack_pointer();
}

[[noreturn]] void end_with_state(const interrupt_frame &frame)
{
	print_registers(frame);
	print_stack(this_cpu(), reach_of(frame));
	(void)print_calls(frame.frame_pointer());
	end_report();
}

} // namespace

void report_exception(const interrupt_frame &frame)
{
	const u32 of = class_of(frame);

	begin_report();
	print_report("PANIC on CPU %u: exception 0x%02x, %s, syndrome 0x%x\n",
		     this_cpu(), of, name_of(of), frame.syndrome & 0x1ffffff);
	if (of == class_instruction_abort || of == class_data_abort)
		print_abort(frame, of == class_instruction_abort);
	end_with_state(frame);
}

void report_interrupt(const interrupt_frame &frame, const char *name,
		      u32 number)
{
	begin_report();
	print_report("PANIC on CPU %u: %s 0x%02x has no handler\n", this_cpu(),
		     name, number);
	end_with_state(frame);
}

extern "C" void exception_dispatch(interrupt_frame *frame)
{
	switch (frame->kind & KIND_MASK) {
	case KIND_IRQ:
		take_interrupt(*frame);
		return;
	case KIND_FIQ:
		take_nmi(*frame);
		return;
	default:
		if (is_semihosting_call(frame->ip))
			frame->ip += 4;
		else
			report_exception(*frame);
	}
}

} // namespace boot
