/* SPDX-License-Identifier: MIT */
/*
 * irq_guard - takes a lock that an interrupt handler takes too
 *
 *	{
 *		klock::irq_guard held(lock);	interrupts off, then the lock
 *	}					unlocked, then as they were
 *
 * Interrupts go off BEFORE the lock is touched: a handler that interrupted a
 * CPU between its ticket and its turn would queue behind that ticket and wait
 * for ever. What they were before belongs to this guard, never to the lock,
 * where the next waiter would overwrite it. Guards nest: an inner one finds
 * interrupts off and leaves them so.
 *
 * Takes what guard takes. Context: thread and maskable interrupts. An NMI is
 * not held off: its handler may only try_lock().
 */
#pragma once

#include <klock/guard.hpp>
#include <klock/irq.hpp>

namespace klock {

namespace detail {
/* A member of its own, so that it is made before the guard and dies after. */
struct irqs_off {
	irqs_off() : before(irq_save()) {}
	~irqs_off() { irq_restore(before); }
	irqs_off(const irqs_off &) = delete;
	irqs_off &operator=(const irqs_off &) = delete;

      private:
	irq_state before;
};
} // namespace detail

template <any_lock L>
struct [[nodiscard]] irq_guard {
	explicit irq_guard(L &lock,
			   call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : held(lock, by)
	{
	}
	/* with: the node, or the CPU's number. */
	template <typename With>
	irq_guard(L &lock, With &&with,
		  call_site by = {__builtin_FILE(), __builtin_LINE()})
	    : held(lock, with, by)
	{
	}
	irq_guard(const irq_guard &) = delete;
	irq_guard &operator=(const irq_guard &) = delete;

      private:
	detail::irqs_off off;
	guard<L> held;
};

template <typename L, typename... With>
irq_guard(L &, With &&...) -> irq_guard<L>;

} // namespace klock
