/* SPDX-License-Identifier: MIT */
/*
 * irq_shared_guard - takes a lock to read that an interrupt handler takes too
 *
 *	{
 *		klock::irq_shared_guard held(lock);	interrupts off, then it
 *	}						reads; then as they were
 *
 *	if (klock::irq_shared_try_guard held{lock}) {
 *		...			interrupts off, reading
 *	}				released, then as they were
 *
 * A reader needs it as much as a writer does: a handler's reader may queue
 * behind a writer that waits for the reader that it interrupted. Writers take
 * irq_guard. Where a try fails, interrupts are back as they were at once. An
 * irq_lock (irq_lock.hpp) of such a lock is read by these two alone.
 *
 * Takes what shared_guard takes; a function for a number is asked after
 * interrupts went off (irq_guard.hpp says why). held.unlock() releases early,
 * then restores. Guards end in the reverse of the order they began in.
 *
 * Context: thread and maskable interrupts. An NMI is not held off: its handler
 * may only try.
 */
#pragma once

#include <klock/irq_guard.hpp>
#include <klock/shared_guard.hpp>

namespace klock {

template <detail::guardable L>
struct [[nodiscard]] irq_shared_guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<L>;

	/* with: nothing, or the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_shared_guard(lock_here at,
							 With &&...with)
	    : taken(detail::waiting{}, at, with...)
	{
	}
	[[gnu::always_inline]] ~irq_shared_guard() = default;
	irq_shared_guard(const irq_shared_guard &) = delete;
	irq_shared_guard &operator=(const irq_shared_guard &) = delete;

	/* Before the block ends; interrupts are then as they were. */
	void unlock(call_site by = caller_site())
	{
		if (!taken.is_held())
			return;
		taken.unlock(by);
		off.restore();
	}

      private:
	detail::irqs_off off;
	detail::acquisition<L, detail::to_read> taken;
};

/* Of a lock without readers. */
template <detail::guardable L>
	requires(!shared_lockable<detail::inside<L>>) //
struct irq_shared_guard<L> : private detail::unreadable<L> {
	/* Not there: the error above says why. */
	template <typename... Given>
	explicit irq_shared_guard(Given &&...);
	/* Not there. */
	void unlock();
};

template <typename L, typename... With>
irq_shared_guard(L &, With &&...) -> irq_shared_guard<L>;
template <typename L, typename... With>
irq_shared_guard(detail::here<L>, With &&...) -> irq_shared_guard<L>;

/* The same if no writer is in the way now; is true while it holds the lock. */
template <detail::guardable L>
struct [[nodiscard]] irq_shared_try_guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<L>;

	/* with: nothing, or the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_shared_try_guard(lock_here at,
							     With &&...with)
	    : taken(detail::trying{}, at, with...)
	{
		if (!taken.is_held())
			off.restore();
	}
	[[gnu::always_inline]] ~irq_shared_try_guard() = default;
	irq_shared_try_guard(const irq_shared_try_guard &) = delete;
	irq_shared_try_guard &operator=(const irq_shared_try_guard &) = delete;

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
	detail::acquisition<L, detail::to_read> taken;
};

/* As irq_shared_guard's. */
template <detail::guardable L>
	requires(!shared_lockable<detail::inside<L>>) //
struct irq_shared_try_guard<L> : private detail::unreadable<L> {
	/* Not there: the error above says why. */
	template <typename... Given>
	explicit irq_shared_try_guard(Given &&...);
	/* Not there. */
	explicit operator bool() const;
	/* Not there. */
	void unlock();
};

template <typename L, typename... With>
irq_shared_try_guard(L &, With &&...) -> irq_shared_try_guard<L>;
template <typename L, typename... With>
irq_shared_try_guard(detail::here<L>, With &&...) -> irq_shared_try_guard<L>;

} // namespace klock
