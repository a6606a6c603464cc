/* SPDX-License-Identifier: MIT */
/*
 * try_guard - takes a lock for the length of a block if it is free now
 *
 *	if (klock::try_guard held{lock}) {
 *		...				held here
 *	}					unlocked here, if it was
 *
 *	klock::try_guard held(lock);
 *	if (!held)
 *		return busy;
 *
 * Takes what guard takes (guard.hpp); the lock must have a try_lock(). Is true
 * while it holds the lock: no more after held.unlock(). if (klock::try_guard{
 * lock}), without a name, would release before the block begins: it does not
 * compile.
 *
 * Context: as guard; and an NMI handler, for a lock whose try_lock() allows it.
 * Failure: orders nothing, waits for nobody, changes nothing.
 */
#pragma once

#include <klock/acquisition.hpp>
#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

template <detail::guardable L>
struct [[nodiscard]] try_guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<detail::lock_of<L>>;

	/* with: nothing, the node, the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit try_guard(lock_here at, With &&...with)
	    : taken(detail::trying{}, at, with...)
	{
	}
	/* Nothing is left to try. */
	try_guard(lock_here at, adopting) = delete;
	template <typename With>
	try_guard(lock_here at, With &&with, adopting) = delete;
	[[gnu::always_inline]] ~try_guard() = default;
	try_guard(const try_guard &) = delete;
	try_guard &operator=(const try_guard &) = delete;

	/* Whether the lock is held. */
	explicit operator bool() const & { return taken.is_held(); }
	explicit operator bool() const && = delete;

	/* Before the block ends; does nothing where it holds nothing. */
	void unlock(call_site by = caller_site()) { taken.unlock(by); }

      private:
	detail::acquisition<L> taken;
};

/* Of an irq_lock: one error, and what to write instead. */
template <detail::guardable L>
	requires irq_only_lock<detail::lock_of<L>>
struct try_guard<L> {
	static_assert(detail::never<L>,
		      "an irq_lock is taken by irq_try_guard: an "
		      "interrupt handler takes it, too");

	template <typename... Given>
	explicit try_guard(Given &&...);
	explicit operator bool() const;
	void unlock();
};

template <typename L, typename... With>
try_guard(L &, With &&...) -> try_guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
try_guard(detail::here<L>, With &&...)
	-> try_guard<detail::guarded<L, With...>>;

} // namespace klock
