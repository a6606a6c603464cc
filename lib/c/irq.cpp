/* SPDX-License-Identifier: MIT */
#include <klock/verbs.h>

#include <klock/irq.hpp>

unsigned long klock_irq_save() { return klock::irq_save(); }

void klock_irq_restore(unsigned long before)
{
	klock::irq_restore(static_cast<klock::irq_state>(before));
}

int klock_irqs_enabled() { return klock::irqs_enabled(); }
