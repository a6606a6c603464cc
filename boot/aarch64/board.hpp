/* SPDX-License-Identifier: MIT */
/*
 * board - the device tree, and what the parts of boot's AArch64 know of each
 * other (private to boot's AArch64)
 */
#pragma once

#include <boot/board/device_tree.hpp>
#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

/* Empty until read_boot_info() has found it. */
const device_tree &machine_tree();

/* -- The interrupt controller as boot uses it -- */

/* Called for each IRQ, and for each FIQ. */
void take_interrupt(interrupt_frame &frame);
void take_nmi(interrupt_frame &frame);

/* The running CPU's private interrupts (16 to 31), by number. */
void enable_private_interrupt(u32 number, bool as_nmi);

/* -- The generic timer as boot uses it -- */

/* Which interrupts the timers have, from the device tree. Once. */
void timer_init();

/* The numbers of the two that boot uses. */
u32 timer_interrupt();
u32 nmi_clock_interrupt();

/*
 * The running CPU's timer has fired: it is set anew, or stops. Returns its
 * vector; 0: it was not to fire any more.
 */
u8 timer_fired();

/* The same of the NMI clock. */
void nmi_clock_fired();

/* -- What nobody handles, and one that is expected -- */

/* An exception: stops all CPUs, prints what happened where, leaves. */
[[noreturn]] void report_exception(const interrupt_frame &frame);

/* The same of an interrupt; `name`: what it is. Any context. */
[[noreturn]] void report_interrupt(const interrupt_frame &frame,
				   const char *name, u32 number);

/* Whether the HLT of machine_exit() is there. */
bool is_semihosting_call(usize ip);

} // namespace boot
