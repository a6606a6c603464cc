/* SPDX-License-Identifier: MIT */
/*
 * relax - one turn of a wait: ARMv7-A
 *
 * YIELD tells a core with several threads, or an emulator that runs one CPU at
 * a time, that this CPU waits; others take it for a NOP.
 */
#pragma once

namespace klock::arch {

/* Any context. */
inline void cpu_relax() { asm volatile("yield" ::: "memory"); }

} // namespace klock::arch
