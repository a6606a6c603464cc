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

#if !defined(__arm__)
#include <klock/arch/error_the_armv7a_port_on_another_cpu.hpp>
#endif

#if __ARM_ARCH < 7 || __ARM_ARCH_PROFILE != 'A'
#include <klock/arch/error_the_armv7a_port_needs_march=armv7-a_or_later.hpp>
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
klock_armv7a_port() noexcept
{
}
[[gnu::alias("klock_armv7a_port"), gnu::visibility("hidden")]] void
klock_two_ports_in_one_program() noexcept;
}
#endif
