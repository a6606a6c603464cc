/* SPDX-License-Identifier: MIT */
/*
 * gic - the interrupt controller as boot uses it (private to boot's AArch64)
 */
#pragma once

#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

/* Called for each IRQ, and for each FIQ. */
void take_interrupt(interrupt_frame &frame);
void take_nmi(interrupt_frame &frame);

/* The running CPU's private interrupts (16 to 31), by number. */
void enable_private_interrupt(u32 number, bool as_nmi);

} // namespace boot
