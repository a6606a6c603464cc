/* SPDX-License-Identifier: MIT */
/*
 * port - what a build can get wrong, each said in one error
 *
 * A header that is not there ends the compiler's work at once: its name is the
 * message. An #error would be followed by a hundred others.
 */
#pragma once

#if __cplusplus <= 201703L
#include <klock/arch/error_klock_needs_std=c++20.hpp>
#endif

#if !defined(__riscv) || __riscv_xlen != 64
#include <klock/arch/error_the_riscv_port_is_for_riscv64.hpp>
#endif

#if !defined(__riscv_atomic)
#include <klock/arch/error_the_riscv_port_needs_an_march_with_a.hpp>
#endif

#if defined(__ELF__)
#include <klock/detail/one_version.hpp>

/*
 * Two ports in one program are two definitions of one type, which a linker
 * does not see. So each port has a function of its own, of which the linker
 * keeps one, and which brings along a second, strong name: with two ports that
 * name is defined twice. Nobody calls it.
 */
extern "C" {
[[gnu::used, gnu::visibility("hidden")]] inline void klock_riscv_port() noexcept
{
}
[[gnu::alias("klock_riscv_port"), gnu::visibility("hidden")]] void
klock_two_ports_in_one_program() noexcept;
}
#endif
