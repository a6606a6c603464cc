/* SPDX-License-Identifier: MIT */
/*
 * cpu - a CPU's clock and its cache line: the engine's business
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <klock/types.hpp>

namespace klock::arch {

/* The line of the machines that are simulated. */
inline constexpr usize cache_line = 64;

/* Virtual time, and the same at every run. */
inline u64 cycles() { return hooked::running ? hooked::running->cycles() : 0; }
inline u64 cycles_begin() { return cycles(); }
inline u64 cycles_end() { return cycles(); }
inline bool cycles_usable() { return true; }
inline u64 cycles_if_usable() { return cycles(); }
inline bool cycles_steady() { return true; }

} // namespace klock::arch
