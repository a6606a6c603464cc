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
