/* SPDX-License-Identifier: MIT */
#include <klock/c_lock.hpp>
#include <klock/irq_depth.hpp>

void klock_push_off() { klock::push_off(); }

void klock_pop_off() { klock::pop_off(); }

unsigned klock_push_depth() { return klock::push_depth(); }

unsigned long klock_irqs_before_push() { return klock::irqs_before_push(); }

void klock_set_irqs_before_push(unsigned long before)
{
	klock::set_irqs_before_push(static_cast<klock::irq_state>(before));
}
