/* SPDX-License-Identifier: MIT */
/*
 * irq - a pretended interrupt flag that tells the test when it changes
 *
 * In front of the hosted port's on the include path, where test_c.c asks
 * what a lock looks like at that moment.
 */
#pragma once

extern "C" void irqs_go_off(void);
extern "C" void irqs_come_back(void);

namespace klock::arch {

using irq_state = bool;

inline bool irq_flag = true;

[[nodiscard]] inline bool irqs_enabled() { return irq_flag; }

[[nodiscard]] inline irq_state irq_save()
{
	const irq_state before = irq_flag;

	irqs_go_off();
	irq_flag = false;
	return before;
}

inline void irq_restore(irq_state before)
{
	if (before) {
		irqs_come_back();
		irq_flag = true;
	}
}

} // namespace klock::arch
