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

#if defined(__ELF__)
/* See the port's own. */
extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_machine_mode() noexcept
{
}
[[gnu::alias("klock_machine_mode"), gnu::visibility("hidden")]] void
klock_machine_and_supervisor_mode_in_one_program() noexcept;
}
#endif
