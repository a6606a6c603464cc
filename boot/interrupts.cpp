/* SPDX-License-Identifier: MIT */
/*
 * interrupts - from the entry stubs to the handlers
 */
#include <boot/apic_driver.hpp>
#include <boot/exceptions.hpp>
#include <boot/interrupts.hpp>
#include <boot/panic.hpp>
#include <boot/pic.hpp>
#include <boot/report.hpp>
#include <boot/segments.hpp>
#include <boot/vectors.hpp>
#include <klock/atomic.hpp>

namespace boot {

namespace {

constinit klock::atomic<interrupt_handler> handlers[256];

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

	const interrupt_handler handler =
		handlers[frame->vector].load_acquire();

	if (handler)
		handler(*frame);
	else if (!is_harmless(frame->vector))
		report_exception(*frame, frame->stack_pointer());

	if (frame->vector >= vector_pic_end)
		apic_end_of_interrupt(static_cast<u8>(frame->vector));
}

void set_interrupt_handler(u8 vector, interrupt_handler handler)
{
	if ((vector >= vector_pic && vector < vector_pic_end) ||
	    vector > last_free_vector)
		panic("vector 0x%02x is boot's own: no handler for it", vector);

	handlers[vector].store_release(handler);
}

void interrupts_init()
{
	make_idt();
	load_idt();
	pic_disable();
}

} // namespace boot
