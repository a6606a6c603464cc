/* SPDX-License-Identifier: MIT */
/*
 * exceptions - the report of what nobody handles: x86 (private to boot)
 */
#pragma once

#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

/*
 * Stops all CPUs, prints what happened where, and leaves with
 * exit_code::panic. stack_pointer: the interrupted code's; the frame of an i686
 * double fault does not know it. Any context.
 */
[[noreturn]] void report_exception(const interrupt_frame &frame,
				   usize stack_pointer);

/* The general registers, in several lines; by architecture. */
void print_registers(const interrupt_frame &frame, usize stack_pointer);

} // namespace boot
