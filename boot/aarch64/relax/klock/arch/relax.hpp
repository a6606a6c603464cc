/* SPDX-License-Identifier: MIT */
/*
 * relax - one turn of a wait: AArch64 under an emulator that runs one CPU at a
 * time
 *
 * QEMU (TCG, thread=single) gives the host's core to the next CPU at YIELD and
 * WFE, not at ISB, which the port has: with that, each turn of a wait would be
 * as long as QEMU lets a CPU run, 50 ms.
 */
#pragma once

namespace klock::arch {

/* Any context. */
inline void cpu_relax() { asm volatile("yield" ::: "memory"); }

} // namespace klock::arch
