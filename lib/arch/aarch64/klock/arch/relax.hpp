/* SPDX-License-Identifier: MIT */
/*
 * relax - one turn of a wait: AArch64
 *
 * ISB makes the core wait until its pipeline is empty. YIELD, the
 * architecture's hint for this, does nothing on most cores. Under an emulator
 * that runs one CPU at a time it is the other way round: put a relax.hpp with
 * YIELD in front.
 */
#pragma once

namespace klock::arch {

/* Any context. */
inline void cpu_relax() { asm volatile("isb" ::: "memory"); }

} // namespace klock::arch
