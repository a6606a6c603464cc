/* SPDX-License-Identifier: MIT */
/*
 * topology - which CPUs share a core, a cache, a package, and of what kind
 * they are
 *
 * As the machine says, from each CPU's hardware id; what the firmware or the
 * hypervisor has made of it is taken as it is.
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

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

/* What the CPU calls itself; "" where it does not say. Any context. */
const char *cpu_model();

/* Of this CPU's microcode; 0: it does not say. Any context. */
u32 cpu_microcode();

/*
 * What kind of core this CPU is, on a machine that has several: Intel's "Core"
 * and "Atom", or "other"; "" where all are alike, or the machine does not say.
 * Any context.
 */
const char *cpu_kind();

/*
 * Whether klock::cycles() counts at the same rate whatever the CPU's frequency
 * and its sleep, as the machine says: a PC's TSC may not. Any context.
 */
bool clock_is_invariant();

} // namespace boot
