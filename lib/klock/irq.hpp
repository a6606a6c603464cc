/* SPDX-License-Identifier: MIT */
/*
 * irq - what klock knows of this CPU's interrupt flag
 *
 * irq_state	what irq_save() found; copied, never looked into
 * irq_save()	disables maskable interrupts, returns what was before
 * irq_restore(state)	back to what was
 * irqs_enabled()	whether a maskable interrupt would be taken now
 *
 * irq_guard (klock/irq_guard.hpp) is the way to use them with a lock.
 */
#pragma once

#include <klock/arch/irq.hpp>

namespace klock {

using arch::irq_restore;
using arch::irq_save;
using arch::irq_state;
using arch::irqs_enabled;

} // namespace klock
