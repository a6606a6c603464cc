/* SPDX-License-Identifier: MIT */
/*
 * width - what x86-64 and i686 do each in its own way (private to boot)
 */
#pragma once

#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

/* -- GDT, TSS and IDT, by architecture -- */

struct percpu;
struct cpu_stacks;

/*
 * Fills and loads the running CPU's GDT and TSS, and makes GS point to its
 * block. Once for each CPU, by itself, before it may take an interrupt.
 */
void load_segments(percpu &cpu, cpu_stacks &own);

/* Fills the IDT, which all CPUs share: all 256 vectors. Once. */
void make_idt();

/* Loads it on the running CPU. */
void load_idt();

/* -- What else must be mapped -- */

/* The running CPU's part; each CPU, by itself. */
void memory_types_init();

/*
 * A framebuffer that lies there can be written, at the rate of one. Null, or
 * why it cannot. Once.
 */
const char *map_screen(u64 address, u64 size);

/* -- The report of what nobody handles -- */

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
