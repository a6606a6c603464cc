/* SPDX-License-Identifier: MIT */
/*
 * board - the device tree, and what the parts of boot's RISC-V know of each
 * other (private to boot/riscv64)
 */
#pragma once

#include <boot/board/device_tree.hpp>
#include <boot/types.hpp>
#include <boot/interrupts.hpp>

namespace boot {

/* -- The device tree, and what is read from it -- */

/* The firmware's; empty where it was none. */
extern device_tree board_tree;

/* How often timer_now() counts in a second; 0: the tree does not say. */
u64 timer_hz();

/* -- A hart's software and timer interrupts -- */

/* They have come; interrupts are off. */
void software_interrupt(interrupt_frame &frame);
void timer_interrupt(interrupt_frame &frame);

/* Calls the vector's handler; none: a report (traps.cpp). */
void handle(u8 vector, interrupt_frame &frame);

/* -- The report of what nobody handles -- */

/*
 * Both stop all CPUs, print what happened where, and leave with
 * exit_code::panic. Any context.
 */
[[noreturn]] void report_exception(const interrupt_frame &frame);
[[noreturn]] void report_no_handler(const interrupt_frame &frame, u8 vector);

} // namespace boot
