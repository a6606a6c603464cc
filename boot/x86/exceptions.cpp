/* SPDX-License-Identifier: MIT */
/*
 * exceptions - the report of what nobody handles: x86
 *
 * Source: Intel SDM volume 3A, Exception and Interrupt Reference; AMD APM
 * volume 2, Vectors, for 28 to 30.
 */
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/report.hpp>
#include <boot/x86/exceptions.hpp>
#include <boot/interrupts.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

constexpr const char *names[32] = {
	"#DE divide error",
	"#DB debug",
	"NMI (no handler)",
	"#BP breakpoint",
	"#OF overflow",
	"#BR bound range exceeded",
	"#UD invalid opcode",
	"#NM device not available",
	"#DF double fault",
	"coprocessor segment overrun",
	"#TS invalid TSS",
	"#NP segment not present",
	"#SS stack-segment fault",
	"#GP general protection",
	"#PF page fault",
	"reserved",
	"#MF x87 floating-point error",
	"#AC alignment check",
	"#MC machine check",
	"#XM SIMD floating-point error",
	"#VE virtualization exception",
	"#CP control protection",
	"reserved",
	"reserved",
	"reserved",
	"reserved",
	"reserved",
	"reserved",
	"#HV hypervisor injection",
	"#VC VMM communication",
	"#SX security exception",
	"reserved",
};

/* Intel SDM volume 3A, Page-Fault Exception, figure Page-Fault Error Code */
void print_page_fault(u64 error)
{
	print_report("  %s address %p: %s\n",
		     error & 0x10  ? "fetching from"
		     : error & 0x2 ? "writing to"
				   : "reading from",
		     physical<void>(read_cr2()),
		     error & 0x8   ? "a reserved bit is set in its page table"
		     : error & 0x1 ? "its page forbids that"
				   : "its page is not present");
}

} // namespace

void report_exception(const interrupt_frame &frame, usize stack_pointer)
{
	const unsigned cpu = this_cpu();

	begin_report();
	if (frame.vector < 32)
		print_report("PANIC on CPU %u: exception %u, %s, error code "
			     "0x%x\n",
			     cpu, frame.vector, names[frame.vector],
			     frame.error_code);
	else
		print_report("PANIC on CPU %u: interrupt 0x%02x has no "
			     "handler\n",
			     cpu, frame.vector);

	if (frame.vector == vector_page_fault)
		print_page_fault(frame.error_code);
	print_registers(frame, stack_pointer);
	print_stack(cpu, stack_pointer);
	print_calls(frame.frame_pointer());
	end_report();
}

} // namespace boot
