/* SPDX-License-Identifier: MIT */
/*
 * irq_register - where this CPU's interrupt flag is: RISC-V, M-mode
 *
 * Source: the privileged specification, mstatus.MIE. To be in front of
 * the port's own on the include path: -I .../riscv/machine.
 */
#pragma once

namespace klock::arch {

inline constexpr int status_csr = 0x300; /* mstatus */
inline constexpr int irq_flag = 8;	 /* MIE */

} // namespace klock::arch
