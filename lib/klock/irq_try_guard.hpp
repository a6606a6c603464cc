/* SPDX-License-Identifier: MIT */
/*
 * irq_try_guard - try_guard, for a lock that an interrupt handler takes too
 *
 *	if (klock::irq_try_guard held{lock}) {
 *		...			interrupts off, the lock is held
 *	}				unlocked, then as they were
 *
 * Interrupts go off before the lock is tried. Where that fails they are back as
 * they were at once, not at the end of the block: what is done instead runs
 * with interrupts on. held.unlock() releases early, then restores.
 *
 * Takes what irq_guard takes, functions for a node or a number among it
 * (irq_guard.hpp); the lock must have a try_lock(). Without a name it does not
 * compile (try_guard.hpp).
 *
 * Context: thread and maskable interrupts; an NMI handler too, for a lock whose
 * try_lock() allows it.
 */
#pragma once

#include <klock/acquisition.hpp>
#include <klock/irq_guard.hpp>

namespace klock {

template <detail::guardable L>
struct [[nodiscard]] irq_try_guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<detail::lock_of<L>>;

	/* with: nothing, the node, the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_try_guard(lock_here at,
						      With &&...with)
	    : taken(detail::trying{}, at, with...)
	{
		if (!taken.is_held())
			off.restore();
	}
	/* Nothing is left to try. */
	irq_try_guard(lock_here at, adopting) = delete;
	template <typename With>
	irq_try_guard(lock_here at, With &&with, adopting) = delete;
	[[gnu::always_inline]] ~irq_try_guard() = default;
	irq_try_guard(const irq_try_guard &) = delete;
	irq_try_guard &operator=(const irq_try_guard &) = delete;

	/* Whether the lock is held, and interrupts are off. */
	explicit operator bool() const & { return taken.is_held(); }
	explicit operator bool() const && = delete;

	/* Before the block ends; does nothing where it holds nothing. */
	void unlock(call_site by = caller_site())
	{
		if (!taken.is_held())
			return;
		taken.unlock(by);
		off.restore();
	}

      private:
	detail::irqs_off off;
	detail::acquisition<L> taken;
};

template <typename L, typename... With>
irq_try_guard(L &, With &&...) -> irq_try_guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
irq_try_guard(detail::here<L>, With &&...)
	-> irq_try_guard<detail::guarded<L, With...>>;

} // namespace klock
