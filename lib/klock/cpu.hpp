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

/* On x86 160 to 2,000 cycles: a part of what it costs to sleep and be woken. */
inline constexpr u32 spins_before_sleep = 16;

} // namespace arch_defaults
namespace arch {
using namespace arch_defaults;
}

/*
 * cache_line	bytes that one CPU's write takes from the others' caches
 * cpu_relax()	one turn of a wait (x86: PAUSE); any context
 * cycles()	the CPU's clock, in its own unit: compare differences of one CPU
 * cycles_if_usable()	the same, or 0 where it would fault: for reports alone,
 *		which show 0 then (RISC-V without mcounteren.TM)
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

/* Turns of a wait before a thread sleeps, if the port has no other number. */
using arch::spins_before_sleep;

/* Pauses for that many turns, the unit of back-off. */
inline void relax_for(u32 turns)
{
	for (u32 i = 0; i < turns; i++)
		cpu_relax();
}

} // namespace klock
