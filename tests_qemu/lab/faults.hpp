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

/* What the test does in handlers, null: nothing; and what shows that it gets
 * on. */
struct visitors {
	void (*in_interrupt)(unsigned cpu);
	void (*in_nmi)(unsigned cpu);
	klock::u32 (*progress)();
};

/* What has come, all CPUs. */
struct fault_counts {
	klock::u64 timer = 0;
	klock::u64 ipi = 0;
	klock::u64 nmi = 0;
	klock::u64 stalls = 0;

	[[nodiscard]] klock::u64 interrupts() const { return timer + ipi; }
};

/* CPU 0, before the others start. */
void prepare_faults(unsigned cpus, klock::u32 seed, visitors what);

/* Each CPU, thread, interrupts on. Between the two it has timer interrupts. */
void begin_faults(unsigned cpu);

/*
 * Waits for all others: when it returns, nobody is in a handler of the test and
 * nobody will be.
 */
void end_faults(unsigned cpu);

/*
 * From threads, too: an IPI or NMI to a random other CPU that takes part, or to
 * this one where it is alone.
 */
void send_random_ipi(unsigned random);
void send_random_nmi(unsigned random);

/* Since prepare_faults(); after all have ended. */
[[nodiscard]] fault_counts faults_so_far();

} // namespace lab
