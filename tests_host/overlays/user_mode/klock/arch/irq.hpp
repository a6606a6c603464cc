/* SPDX-License-Identifier: MIT */
/*
 * irq - stands in front of the x86 port's: user mode has no interrupt flag
 *
 * CLI and STI fault there. Whatever else the bench measures is what a kernel
 * runs.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::arch {

using irq_state = usize;

[[nodiscard]] inline irq_state irq_save()
{
	asm volatile("" ::: "memory");
	return 0;
}

inline void irq_restore(irq_state) { asm volatile("" ::: "memory"); }

[[nodiscard]] inline bool irqs_enabled() { return true; }

} // namespace klock::arch
