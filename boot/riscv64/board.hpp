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

/*
 * -- Operations that differ in machine and supervisor mode --
 *
 * Machine mode has the hardware to itself; supervisor mode asks the firmware.
 * One of the two folders is compiled; beside these functions it supplies
 * _start, call_cpus() and protect_memory() (boot/machine.hpp),
 * sleep_until_pending() (machine/cpu.hpp), the header <mode/registers.h>, and
 * the lab's cpu_relax().
 */

struct percpu;

/* "machine mode" or the firmware's name, for boot's first line. */
const char *mode_name();

/*
 * Finds what the functions below need. Null, or what is missing: then there is
 * neither timer nor IPI. Once, on the first CPU.
 */
const char *mode_init(const device_tree &tree);

/* The running CPU's own; before interrupts are enabled. */
void mode_cpu_init(percpu &cpu);

/*
 * A hart's software interrupt. What was written before is seen there. Any
 * context.
 */
void raise_software_interrupt(percpu &cpu);

/* This hart's. Whoever raises it from now on is not missed. */
void clear_software_interrupt();

/* The clock by which timers go; of the frequency that the tree says. */
u64 timer_now();

/* This hart's timer interrupts from then on; ~0: never. */
void set_timer(u64 when);

} // namespace boot
