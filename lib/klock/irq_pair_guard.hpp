/* SPDX-License-Identifier: MIT */
/*
 * irq_pair_guard - pair_guard, for locks that interrupt handlers take too
 *
 *	{
 *		klock::irq_pair_guard held(a, b);	interrupts off, the two
 *	}			both unlocked, then interrupts as they were
 *
 *	klock::irq_pair_guard held(a, klock::with(clh, my_node));
 *
 * The order is that of pair_guard.hpp; a function that picks a node is asked
 * with interrupts off, as in irq_guard.hpp.
 */
#pragma once

#include <klock/irq_guard.hpp>
#include <klock/pair_guard.hpp>

namespace klock {

template <detail::pairable A, detail::pairable B>
struct [[nodiscard]] irq_pair_guard {
	/* a, b: a lock, or with(lock, node). */
	template <typename First, typename Second>
	[[nodiscard("a guard without a name releases at once")]] irq_pair_guard(
		First &&a, Second &&b, call_site by = caller_site())
	    : taken(a, b, by)
	{
	}
	irq_pair_guard(const irq_pair_guard &) = delete;
	irq_pair_guard &operator=(const irq_pair_guard &) = delete;

	/* Both, before the block ends; interrupts are then as they were. */
	void unlock(call_site by = caller_site())
	{
		if (!taken.is_held())
			return;
		taken.unlock(by);
		off.restore();
	}

      private:
	detail::irqs_off off;
	detail::acquisition_pair<A, B> taken;
};

template <detail::pairable A, detail::pairable B>
irq_pair_guard(A &&, B &&) -> irq_pair_guard<A, B>;

} // namespace klock
