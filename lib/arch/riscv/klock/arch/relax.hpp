/* SPDX-License-Identifier: MIT */
/*
 * relax - one turn of a wait: RISC-V
 *
 * PAUSE (Zihintpause), by its number: no assembler need know it, and a CPU that
 * does not takes it for a FENCE that orders nothing. An emulator that runs one
 * CPU at a time does nothing at it: put a relax.hpp of your own in front.
 */
#pragma once

namespace klock::arch {

/* Any context. */
inline void cpu_relax() { asm volatile(".4byte 0x0100000f" ::: "memory"); }

} // namespace klock::arch
