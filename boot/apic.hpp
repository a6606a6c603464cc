/* SPDX-License-Identifier: MIT */
/*
 * apic - the local APIC as a payload uses it: timer, IPIs, NMIs
 *
 * Where the machine has no usable local APIC, boot says so when it starts; then
 * there is one CPU, and everything here is a panic. See has_apic().
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* Whether timer and IPIs work. */
bool has_apic();

/* -- This CPU's timer; each CPU has its own. Thread or interrupt. -- */

/*
 * Interrupts `vector` (a free one) comes every period_ns, or once after
 * delay_ns; a new start replaces what was. Resolution: tens of nanoseconds to
 * a microsecond, at least one tick of the timer's clock; times beyond what its
 * 32 bits hold (a minute under QEMU) are cut to that.
 */
void timer_start_periodic(u8 vector, u64 period_ns);
void timer_start_one_shot(u8 vector, u64 delay_ns);

/* One interrupt that was on its way may still come. */
void timer_stop();

/* -- Interrupts for other CPUs. Thread or interrupt, not NMI. -- */

/*
 * Fixed interrupt `vector` (a free one) to one CPU, this one allowed, or to all
 * others. Returns when it is on its way, not when it is handled: two to the
 * same CPU may become one.
 */
void send_ipi(unsigned cpu, u8 vector);
void send_ipi_to_others(u8 vector);

/* A non-maskable interrupt: set_interrupt_handler(vector_nmi, ...) first. */
void send_nmi(unsigned cpu);
void send_nmi_to_others();

/* As send_nmi(), from an NMI handler. */
void send_nmi_from_nmi(unsigned cpu);

} // namespace boot
