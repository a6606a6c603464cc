/* SPDX-License-Identifier: MIT */
/*
 * nmi - what the lab does with non-maskable interrupts
 *
 * An NMI comes where no interrupt comes: into a CPU that waits for a lock with
 * interrupts off. So it is what the watchdog is driven by, and what shows where
 * a CPU is when everybody is stuck. A test may take part in it, too.
 *
 * Where a machine has none (boot::has_nmi()), the watchdog is driven by the
 * pauses of CPUs that wait (boot/pause.hpp). A CPU that hangs and does not
 * pause is not seen then, and CPU 0 not even missed.
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

/* Handles NMIs, or sees pauses, from now on. */
void take_nmis();

/*
 * Every NMI calls visit(cpu) as well; null: no more. It may do what boot allows
 * an NMI handler, and of locks only try_lock() and the unlock after it.
 */
void set_nmi_visitor(void (*visit)(unsigned cpu));

/*
 * Null if the machine has a clock for NMIs, tried once, or pauses in its
 * stead; else why it has none. CPU 0, thread, after take_nmis().
 */
[[nodiscard]] const char *find_nmi_clock();

/*
 * CPU 0 gets an NMI every so many microseconds from now on, where there is such
 * a clock, and calls look() in it; or it does so in a pause.
 */
void start_nmi_clock(klock::u32 period_us, void (*look)());

/*
 * Two of look(): have CPUs 1 to cpus - 1 all run since they were asked, and to
 * ask them, by an NMI each, or in a pause. A CPU whose host does not run it
 * does not answer.
 */
[[nodiscard]] bool have_all_run(unsigned cpus);
void ask_all(unsigned cpus);

/*
 * Has all other CPUs note where they are, as far as they still answer. From
 * CPU 0's NMI handler, before the end: those CPUs' NMI handlers are in use.
 */
void ask_where_all_are();

/*
 * Where the CPU was when the last NMI came, or paused last: an instruction's
 * address.
 */
[[nodiscard]] klock::usize where_is(unsigned cpu);

/* NMIs so far, all CPUs, without the clock's. */
[[nodiscard]] klock::u64 nmis_taken();

} // namespace lab
