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

#if defined(__ELF__)
/*
 * Two modes in one program: one of them masks a register that it does not
 * mean, or traps. As for two ports (port.hpp): with riscv/machine in some files
 * alone, the second name is defined twice, which a linker refuses.
 */
extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_supervisor_mode() noexcept
{
}
[[gnu::alias("klock_supervisor_mode"), gnu::visibility("hidden")]] void
klock_machine_and_supervisor_mode_in_one_program() noexcept;
}
#endif
