/* SPDX-License-Identifier: MIT */
/*
 * traps - from trap_entry to the handlers: RISC-V
 */
#include <boot/interrupts.hpp>
#include <boot/riscv64/controller.hpp>
#include <boot/riscv64/csr.hpp>
#include <boot/riscv64/exceptions.hpp>

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

} // namespace boot
