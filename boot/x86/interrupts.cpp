/* SPDX-License-Identifier: MIT */
/*
 * interrupts - from the entry stubs to handlers and reports: x86
 *
 * Source: Intel SDM volume 3A, Exception and Interrupt Reference; AMD APM
 * volume 2, Vectors, for 28 to 30; Intel 8259A data sheet, Programming.
 */
#include <machine/cpu.hpp>
#include <boot/x86/x86.hpp>
#include <boot/console.hpp>
#include <boot/cpus.hpp>
#include <boot/panic.hpp>
#include <boot/interrupts.hpp>
#include <boot/machine.hpp>
#include <boot/x86/apic.hpp>

namespace boot {

/*
 * -- The two 8259 interrupt controllers, out of the way --
 *
 * Masked is not enough: the BIOS leaves them at vectors that are exceptions
 * here, and a spurious interrupt cannot be masked.
 */

namespace {

constexpr u16 master = 0x20; /* command port; the data port follows */
constexpr u16 slave = 0xa0;

void restart(u16 port, u8 first_vector, u8 cascade)
{
	out8(port, 0x11); /* ICW1: edge-triggered, cascaded, ICW4 follows */
	out8(port + 1, first_vector); /* ICW2 */
	out8(port + 1, cascade);      /* ICW3 */
	out8(port + 1, 0x01);	      /* ICW4: 8086 mode */
	out8(port + 1, 0xff);	      /* OCW1: all masked */
}

void pic_disable()
{
	restart(master, vector_pic, 1 << 2); /* the slave is at input 2 */
	restart(slave, vector_pic + 8, 2);
}

/* -- The report of what nobody handles -- */

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
	(void)print_calls(frame.frame_pointer());
	end_report();
}

/* -- From the entry stubs to the handlers -- */

namespace {

/*
 * Returns whether an interrupt came unasked and means nothing. The old
 * controllers can raise a spurious interrupt although all is masked; so can the
 * local APIC (Intel SDM volume 3A, Spurious Interrupt). Neither is to be
 * acknowledged. A wake-up has done all it should when HLT has ended; that one
 * is.
 */
bool is_harmless(u64 vector)
{
	return (vector >= vector_pic && vector < vector_pic_end) ||
	       vector == vector_wake || vector == vector_spurious;
}

} // namespace

extern "C" void interrupt_dispatch(interrupt_frame *frame)
{
	/* An NMI is the way to stop a CPU that waits. */
	if (frame->vector == vector_nmi && give_way_to_report())
		return;

	const u8 vector = static_cast<u8>(frame->vector);
	const interrupt_handler handler = handler_of(vector);

	if (handler)
		handler(*frame);
	else if (!is_harmless(vector))
		report_exception(*frame, frame->stack_pointer());

	if (vector >= vector_pic_end)
		apic_end_of_interrupt(vector);
}

void interrupts_init()
{
	make_idt();
	load_idt();
	pic_disable();
}

} // namespace boot
