/* SPDX-License-Identifier: MIT */
/*
 * nmi - what the lab does with non-maskable interrupts
 *
 * An NMI comes where no interrupt comes: into a CPU that waits for a lock with
 * interrupts off. So it is what the watchdog is driven by, and what shows where
 * a CPU is when everybody is stuck. A test may take part in it, too.
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

/* Handles NMIs from now on. */
void take_nmis();

/*
 * Every NMI calls visit(cpu) as well; null: no more. It may do what boot allows
 * an NMI handler, and of locks only try_lock() and the unlock after it.
 */
void set_nmi_visitor(void (*visit)(unsigned cpu));

/*
 * CPU 0 gets an NMI 18 times a second from now on, from the old timer by way of
 * the I/O APIC, and calls look() in it. False: there is none; then nobody
 * looks.
 */
[[nodiscard]] bool start_nmi_clock(void (*look)());

/* Milliseconds between two of them. */
inline constexpr klock::u32 nmi_clock_ms = 55;

/*
 * Has all other CPUs note where they are, as far as they still answer. From
 * CPU 0's NMI handler, before the end: those CPUs' NMI handlers are in use.
 */
void ask_where_all_are();

/* Where the CPU was when the last NMI came: an instruction's address. */
[[nodiscard]] klock::usize where_is(unsigned cpu);

/* NMIs so far, all CPUs, without the clock's. */
[[nodiscard]] klock::u64 nmis_taken();

} // namespace lab
