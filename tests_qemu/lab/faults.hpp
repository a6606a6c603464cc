/* SPDX-License-Identifier: MIT */
/*
 * faults - interrupts, IPIs and NMIs at any moment, and what they stop
 *
 * Each CPU that takes part has its timer fire at random; its handler sends IPIs
 * and NMIs to random CPUs, and stays on now and then: to a lock, the code that
 * it interrupted is a holder or a waiter that stalls. What a test does with an
 * interrupt or an NMI itself it says by the visitors. Where the machine has no
 * NMIs (boot::has_nmi()), none come.
 *
 *	prepare_faults(cpus, seed, {...});
 *	on each CPU:	begin_faults(cpu); ... end_faults(cpu);
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

/*
 * An NMI comes where no interrupt comes: into a CPU that waits for a lock with
 * interrupts off. So it is what the watchdog is driven by, and what shows where
 * a CPU is when everybody is stuck. A test may take part in it, too.
 *
 * Where a machine has none (boot::has_nmi()), the watchdog is driven by the
 * pauses of CPUs that wait (boot/interrupts.hpp). A CPU that hangs and does not
 * pause is not seen then, and CPU 0 not even missed.
 */

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
 * Returns the address of the instruction at which the CPU's last NMI came, or
 * at which it paused last.
 */
[[nodiscard]] klock::usize where_is(unsigned cpu);

/*
 * Returns how many NMIs of send_random_nmi() have come so far, on all CPUs: the
 * clock's and the watchdog's are not among them.
 */
[[nodiscard]] klock::u64 nmis_taken();

/* The test's handlers, null if none, and the count that shows its progress. */
struct visitors {
	void (*in_interrupt)(unsigned cpu);
	void (*in_nmi)(unsigned cpu);
	klock::u32 (*progress)();
};

/* The interrupts that have come, on all CPUs. */
struct fault_counts {
	klock::u64 timer = 0;
	klock::u64 ipi = 0;
	klock::u64 nmi = 0;
	klock::u64 stalls = 0;

	[[nodiscard]] klock::u64 interrupts() const { return timer + ipi; }
};

/*
 * CPU 0, before the others start. The run has no timer interrupts, IPIs, NMIs
 * or visits if fault= asks for that.
 */
void prepare_faults(unsigned cpus, klock::u32 seed, visitors what);

/* Each CPU, thread, interrupts on. Between the two it has timer interrupts. */
void begin_faults(unsigned cpu);

/*
 * Waits for all others: when it returns, nobody is in a handler of the test and
 * nobody will be.
 */
void end_faults(unsigned cpu);

/*
 * Sends an IPI or NMI to a random other CPU that takes part, or to this one if
 * it is alone. Threads may call it, too.
 */
void send_random_ipi(unsigned random);
void send_random_nmi(unsigned random);

/* Since prepare_faults(); after all have ended. */
[[nodiscard]] fault_counts faults_so_far();

} // namespace lab
