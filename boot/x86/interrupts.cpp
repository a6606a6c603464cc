/* SPDX-License-Identifier: MIT */
/*
 * interrupts - from the entry stubs to the handlers: x86
 */
#include <boot/interrupts.hpp>
#include <boot/report.hpp>
#include <boot/machine.hpp>
#include <boot/x86/apic_driver.hpp>
#include <boot/x86/exceptions.hpp>
#include <boot/x86/pic.hpp>
#include <boot/x86/width.hpp>

namespace boot {

namespace {

/*
 * Nobody asked for these, and they mean nothing. The old controllers can raise
 * a spurious interrupt although all is masked; so can the local APIC (Intel SDM
 * volume 3A, Spurious Interrupt). Neither is to be acknowledged. The wake-up
 * has done all it should when HLT has ended; that one is.
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
	if (frame->vector == vector_nmi && is_reporting())
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
