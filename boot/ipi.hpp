/* SPDX-License-Identifier: MIT */
/*
 * ipi - each CPU's timer, interrupts for other CPUs, the NMI clock
 *
 * Where the machine has no usable interrupt controller, boot says so when it
 * starts; then there is one CPU, and everything here is a panic. See
 * has_ipis().
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/*
 * -- Each CPU's timer, and interrupts for other CPUs --
 *
 * Where the machine has no usable interrupt controller, boot says so when it
 * starts; then there is one CPU, and everything here is a panic. See
 * has_ipis().
 */

/* Whether timer and IPIs work. */
bool has_ipis();

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

/* Whether the machine has non-maskable interrupts that a CPU can send. */
bool has_nmi();

/* One of them; else a panic. First: set_interrupt_handler(vector_nmi, ...). */
void send_nmi(unsigned cpu);
void send_nmi_to_others();

/* As send_nmi(), from an NMI handler. */
void send_nmi_from_nmi(unsigned cpu);

/*
 * -- An NMI to CPU 0 again and again, for a watchdog --
 *
 * An NMI comes where no interrupt comes: into a CPU that waits with interrupts
 * off.
 */

/* The longest period of the clock there is, about. */
inline constexpr u32 nmi_clock_longest_us = 54900;

/*
 * From now on CPU 0 gets an NMI every so many microseconds, up to
 * nmi_clock_longest_us; a new start replaces what was. A handler for vector_nmi
 * must be there. Returns a null pointer, or why there is no such clock. Whether
 * NMIs come is for the caller to see: a wire may be another than the firmware
 * says. CPU 0, thread.
 */
[[nodiscard]] const char *nmi_clock_start(u32 period_us);

} // namespace boot
