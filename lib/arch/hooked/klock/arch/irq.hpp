/* SPDX-License-Identifier: MIT */
/*
 * irq - the interrupt flag of the engine's CPU
 *
 * The model checker interrupts a CPU wherever this flag allows it.
 */
#pragma once

#include <klock/arch/engine.hpp>
#include <klock/types.hpp>

namespace klock::arch {

/* Whether interrupts were enabled before irq_save(). */
using irq_state = bool;

[[nodiscard]] inline irq_state irq_save()
{
	return hooked::running ? hooked::running->irq_flag(false) : true;
}

inline void irq_restore(irq_state before)
{
	if (before && hooked::running)
		hooked::running->irq_flag(true);
}

[[nodiscard]] inline bool irqs_enabled()
{
	const irq_state now = irq_save();

	irq_restore(now);
	return now;
}

} // namespace klock::arch
