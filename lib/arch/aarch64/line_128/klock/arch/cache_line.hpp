/* SPDX-License-Identifier: MIT */
/*
 * cache_line - how far apart what two CPUs write is kept: AArch64, Apple's
 *
 * To be in front of the port's own on the include path of every file:
 * -I .../aarch64/line_128. The library for C has lines of 64 bytes.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

inline constexpr usize cache_line = 128;

} // namespace klock::arch

#if defined(__ELF__)
/* See the port's own. */
extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_cache_lines_of_128() noexcept
{
}
[[gnu::alias("klock_cache_lines_of_128"), gnu::visibility("hidden")]] void
klock_cache_lines_of_64_and_128_in_one_program() noexcept;
}
#endif
