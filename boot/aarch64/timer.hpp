/* SPDX-License-Identifier: MIT */
/*
 * timer - the generic timer as boot uses it (private to boot's AArch64)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

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

} // namespace boot
