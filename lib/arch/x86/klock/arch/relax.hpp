/* SPDX-License-Identifier: MIT */
/*
 * relax - one turn of a wait: x86, 32 and 64 bits
 *
 * Source: Intel SDM volume 2B, PAUSE. It tells the CPU that this is a wait: it
 * leaves the core's resources to its hyper-thread and does not pay for the
 * memory-order violation when the awaited line changes. It takes 10 to 140
 * cycles, depending on the CPU: measure it (klock/calibrate.hpp), never assume
 * it.
 */
#pragma once

namespace klock::arch {

/* Any context. */
inline void cpu_relax() { asm volatile("pause" ::: "memory"); }

} // namespace klock::arch
