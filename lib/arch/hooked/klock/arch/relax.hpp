/* SPDX-License-Identifier: MIT */
/*
 * relax - one turn of a wait: the engine's business
 */
#pragma once

#include <klock/arch/engine.hpp>

namespace klock::arch {

inline void cpu_relax()
{
	if (hooked::running)
		hooked::running->relax(1);
}

/* One stands for any number of them: each is a try_lock(). */
inline constexpr u32 spins_before_sleep = 1;

} // namespace klock::arch
