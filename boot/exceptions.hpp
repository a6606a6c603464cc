/* SPDX-License-Identifier: MIT */
/*
 * exceptions - the report of what nobody handles (private to boot)
 */
#pragma once

#include <boot/interrupt_frame.hpp>
#include <boot/types.hpp>

namespace boot {

/*
 * Stops all CPUs, prints what happened where, and leaves with
 * exit_code::panic. stack_pointer: the interrupted code's; the frame of an i686
 * double fault does not know it. Any context.
 */
[[noreturn]] void report_exception(const interrupt_frame &frame,
				   usize stack_pointer);

/*
 * Where the calls stand that lead to a frame pointer (RBP, EBP), innermost
 * first, as far as code built with -fno-omit-frame-pointer has left a trace on
 * the running CPU's thread stack.
 */
void print_calls(usize frame_pointer);

/* The general registers, in several lines; by architecture. */
void print_registers(const interrupt_frame &frame, usize stack_pointer);

} // namespace boot
