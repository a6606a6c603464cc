/* SPDX-License-Identifier: MIT */
/*
 * cpu - a thread's clock and the cache line: any host with POSIX threads
 */
#pragma once

#include <klock/types.hpp>
#include <klock/arch/clock.hpp>

namespace klock::arch {

/* The common size; a host's own may be 32 to 256. Padding, not correctness. */
inline constexpr usize cache_line = 64;

/* No host's clock faults. */
inline u64 cycles_if_usable() { return cycles(); }

} // namespace klock::arch
