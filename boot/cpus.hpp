/* SPDX-License-Identifier: MIT */
/*
 * cpus - how many there are, which one this is, what they share, and work for
 * all of them
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

/* The machine's number of it: APIC id, MPIDR, hart. Any context. */
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

/*
 * -- Levels that CPUs share (core, cache, package), and their kinds --
 *
 * The machine says it by each CPU's hardware id; boot does not correct what the
 * firmware or the hypervisor has made of it.
 */

/* Numbers of the machine's own: equal where two CPUs share the thing. */
struct cpu_place {
	u32 core = 0;
	u32 l2 = 0;
	u32 l3 = 0;
	u32 package = 0;
};

/* False: this machine does not say, and all places are 0. Any context. */
bool topology_is_known();

/* Any context. */
cpu_place place_of(unsigned cpu);

/* The CPU's own name; "" if it has none. Any context. */
const char *cpu_model();

/* The version of this CPU's microcode; 0: it does not say. Any context. */
u32 cpu_microcode();

/*
 * The kind of this CPU's core, on a machine that has several: Intel's "Core"
 * and "Atom", or "other"; "" if all are alike, or the machine does not say. Any
 * context.
 */
const char *cpu_kind();

/*
 * Whether klock::cycles() counts at the same rate whatever the CPU's frequency
 * and its sleep, as the machine says: a PC's TSC may not. Any context.
 */
bool clock_is_invariant();

/* -- How boot starts them (private to boot) -- */

struct boot_info;
struct cpu_list;

/* Asks the firmware which CPUs there are. Before start_cpus(). */
void list_cpus(const boot_info &info);

/*
 * Starts all CPUs of the list and returns when they idle; says which ones did
 * not come. cpu_count() is final afterwards. Once, on the first CPU, interrupts
 * on or off.
 */
void start_cpus();

/*
 * The words that choose the CPUs that take part, and their order:
 *
 *	pin=cores	one of each core: the first
 *	pin=threads	all, those of one core behind each other
 *	pin=l3		those that share the last cache with the first CPU
 *	pin=0,2,4	these, as they are numbered without the word
 *
 * The first CPU, which runs kmain(), is always among them, and is CPU 0.
 */

/* A CPU's place by its hardware id; null: this machine does not say. */
using place_finder = cpu_place (*)(u64 hardware_id);

/* The list's first entry is the first CPU. Null, or what is wrong with how. */
const char *pin_cpus(cpu_list &cpus, const char *how, place_finder place);

} // namespace boot
