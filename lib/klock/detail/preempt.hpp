/* SPDX-License-Identifier: MIT */
/*
 * preempt - guards and preemption: here they leave it alone
 *
 * A kernel that preempts its threads inside of the kernel must not do so to one
 * that holds a spin lock, or waits for its ticket: everybody behind it would
 * wait until it runs again, and one of its own CPU for ever. Such a kernel puts
 * lib/preempted in front of lib on its include path, whose preempt.hpp has
 * guard, try_guard, pair_guard, shared_guard and shared_try_guard turn it off
 * and on again, by two functions of the kernel's. Any other pays nothing.
 *
 * Guards that disable interrupts leave it alone: nobody preempts this CPU then.
 * So do guards of locks that sleep.
 */
#pragma once

namespace klock {
namespace detail {

struct irqs_left;
using preemption = irqs_left;

} // namespace detail
} // namespace klock
