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

} // namespace klock::arch
