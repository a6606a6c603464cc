/* SPDX-License-Identifier: MIT */
/*
 * irq - this CPU's interrupt flag
 *
 * irq_state	what irq_save() found; copied, never looked into
 * irq_save()	disables maskable interrupts, returns what was before
 * irq_restore(state)	back to what was
 * irqs_enabled()	whether a maskable interrupt would be taken now
 *
 * irq_guard (klock/irq_guard.hpp) is the way to use them with a lock. By hand,
 * or counted: lib/docs/take-a-lock.md. They call nothing of the kernel, so they
 * work before a CPU has a number, and before there is an interrupt table.
 */
#pragma once

#include <klock/arch/irq.hpp>

namespace klock {

using arch::irq_restore;
using arch::irq_save;
using arch::irq_state;
using arch::irqs_enabled;

} // namespace klock
