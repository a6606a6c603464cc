/* SPDX-License-Identifier: MIT */
/*
 * relax - what a waiting CPU of the lab does: RISC-V
 *
 * In place of the port's, by an include path in front. Under QEMU's
 * thread=single all vCPUs share one host core, and PAUSE does not give it away:
 * a waiter would keep it for the rest of its time slice, 50 ms. WFI does, and
 * returns at once if an interrupt is pending. How one always is, each mode does
 * in its own way (boot_relax()).
 */
#pragma once

extern "C" void boot_relax();

namespace klock::arch {

/* Any context. */
inline void cpu_relax() { boot_relax(); }

} // namespace klock::arch
