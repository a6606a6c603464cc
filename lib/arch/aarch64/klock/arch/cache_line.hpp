/* SPDX-License-Identifier: MIT */
/*
 * cache_line - how far apart what two CPUs write is kept: AArch64, most cores
 *
 * Source: Arm ARM, CTR_EL0: DminLine of every core that this was looked up for
 * but Apple's is 64 bytes. Those have 128: -I .../aarch64/line_128 in front of
 * this on the include path, of every file of the program. A wrong number costs
 * time alone. CTR_EL0.ERG, up to 2 KiB, is what a waiter's LDAXR watches: a
 * write to any of it wakes the waiter, who looks and waits on.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

/* Bytes that one CPU's write takes away from the others. */
inline constexpr usize cache_line = 64;

} // namespace klock::arch

#if defined(__ELF__)
/*
 * Two lengths in one program are two sizes of one type. As for two ports
 * (port.hpp): with line_128 in some files alone, the second name is defined
 * twice, which a linker refuses.
 */
extern "C" {
[[gnu::used, gnu::no_instrument_function,
  gnu::visibility("hidden")]] inline void
klock_cache_lines_of_64() noexcept
{
}
[[gnu::alias("klock_cache_lines_of_64"), gnu::visibility("hidden")]] void
klock_cache_lines_of_64_and_128_in_one_program() noexcept;
}
#endif
