/* SPDX-License-Identifier: MIT */
/*
 * cpus - how many there are, which one this is, and work for all of them
 */
#pragma once

#include <boot/types.hpp>
#include <machine/cpu.hpp>

namespace boot {

/* How many CPUs are up: 1 to max_cpus, the same for the rest of the run. */
unsigned cpu_count();

/*
 * The running CPU's number: 0 to cpu_count() - 1, 0 the first CPU, the others
 * in the firmware's order. One load. Any context, NMI included.
 */
inline unsigned this_cpu();

/* What the machine calls it: APIC id, MPIDR, hart. Any context. */
u64 hardware_id_of(unsigned cpu);

/*
 * Calls fn(cpu, arg) on CPUs 0 to count - 1, this one (CPU 0) included; returns
 * when all calls have. No call begins before all CPUs are awake. Calls have
 * interrupts on (CPU 0: as it is), and the CPU's own 16 KiB of stack. What the
 * caller wrote before is seen by the calls, and their writes by the caller
 * after.
 *
 * CPUs from `count` on sleep; interrupts wake them for the handler only.
 *
 * Context: CPU 0, thread, not from within a call. Anything else, no CPU or more
 * than cpu_count() is a panic.
 */
void run_on_cpus(unsigned count, void (*fn)(unsigned cpu, void *arg),
		 void *arg);

} // namespace boot
