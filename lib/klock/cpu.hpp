/* SPDX-License-Identifier: MIT */
/*
 * cpu - what klock knows of the CPU: its pause, its clock, its cache line
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/arch/relax.hpp>
#include <klock/types.hpp>

namespace klock {
namespace arch_defaults {

/* On x86 4,000 to 9,000 cycles: less than it costs to sleep and to be woken. */
inline constexpr u32 spins_before_sleep = 64;

} // namespace arch_defaults
namespace arch {
using namespace arch_defaults;
}

/*
 * cache_line	bytes that one CPU's write takes from the others' caches
 * cpu_relax()	the pause of one spin iteration (x86: PAUSE); any context
 * cycles()	the CPU's clock, in its own unit: compare differences of one CPU
 * cycles_if_usable()	the same, or 0 if it would fault (RISC-V without
 *		mcounteren.TM): for reports alone, which then show 0
 */
using arch::cache_line;
using arch::cpu_relax;
using arch::cycles;
using arch::cycles_if_usable;

/* The deadline that many cycles from now; at most the largest u64. */
inline u64 deadline_in(u64 how_long)
{
	const u64 now = cycles();

	return how_long < ~now ? now + how_long : ~u64{0};
}

/* Spin iterations before a thread sleeps, if the port has no other number. */
using arch::spins_before_sleep;

/* Pauses for that many spin iterations, the unit of back-off. */
inline void relax_for(u32 turns)
{
	for (u32 i = 0; i < turns; i++)
		cpu_relax();
}

} // namespace klock
