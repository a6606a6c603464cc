/* SPDX-License-Identifier: MIT */
/*
 * irq_register - where this CPU's interrupt flag is: RISC-V, S-mode
 *
 * Source: the privileged specification, sstatus.SIE. A kernel that runs
 * in M-mode has -I .../riscv/machine in front of this on its include path.
 */
#pragma once

namespace klock::arch {

inline constexpr int status_csr = 0x100; /* sstatus */
inline constexpr int irq_flag = 2;	 /* SIE */

} // namespace klock::arch
