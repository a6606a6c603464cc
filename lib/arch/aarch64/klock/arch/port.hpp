/* SPDX-License-Identifier: MIT */
/*
 * port - what a build can get wrong, each said in one error
 *
 * A header that is not there ends the compiler's work at once: its name is the
 * message. An #error would be followed by a hundred others. No compiler says
 * in its macros that it calls a library for its atomics: compile a kernel with
 * -mno-outline-atomics, or the linker misses __aarch64_ldadd1_acq_rel and its
 * like.
 */
#pragma once

#if __cplusplus <= 201703L
#include <klock/arch/error_klock_needs_std=c++20.hpp>
#endif

#if !defined(__aarch64__)
#include <klock/arch/error_the_aarch64_port_on_another_cpu.hpp>
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
[[gnu::used, gnu::visibility("hidden")]] inline void
klock_aarch64_port() noexcept
{
}
[[gnu::alias("klock_aarch64_port"), gnu::visibility("hidden")]] void
klock_two_ports_in_one_program() noexcept;
}
#endif
