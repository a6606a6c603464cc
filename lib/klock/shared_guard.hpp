/* SPDX-License-Identifier: MIT */
/*
 * shared_guard - takes a lock to read for the length of a block
 *
 *	{
 *		klock::shared_guard held(lock);		with other readers
 *	}						released here
 *
 *	if (klock::shared_try_guard held{lock}) {
 *		...					read here, if no writer
 *	}						is in the way
 *
 * For locks that readers share (rw_ticket_lock.hpp and its like); a writer
 * takes guard (guard.hpp). What is read under a shared guard must not be
 * written: other readers are inside. A lock that is indexed by CPU for its
 * readers is given the number, a function that returns it, or nothing: then the
 * kernel is asked (klock/os.hpp).
 *
 * held.unlock() releases early, before the block ends; once. A guard without a
 * name, klock::shared_guard{lock}, would release at once: the compiler warns.
 *
 * Upgrading, a guard inside a shared_guard of the same lock, waits for itself,
 * for ever. So may a second shared_guard, see the lock's Context.
 *
 * Context: that of the lock inside. A lock that a handler takes too, either
 * way, needs irq_shared_guard instead, unless the lock says otherwise. An
 * irq_lock (irq_lock.hpp) says it by its type: these do not compile.
 * Size: as guard's		Checked: unit/shared_guard: sizes
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/detail/taking.hpp>
#include <klock/irq_guard.hpp>
#include <klock/types.hpp>

namespace klock {

template <detail::guardable L>
struct [[nodiscard]] shared_guard
    : detail::guard_of<L, detail::to_read, detail::waiting,
		       detail::left_on<L>> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit shared_guard(typename shared_guard::
							     lock_here at,
						     With &&...with)
	    : shared_guard::guard_of(at, with...)
	{
	}
	[[gnu::always_inline]] ~shared_guard() = default;
	shared_guard(const shared_guard &) = delete;
	shared_guard &operator=(const shared_guard &) = delete;
};

template <typename L, typename... With>
shared_guard(L &, With &&...) -> shared_guard<L>;
template <typename L, typename... With>
shared_guard(detail::lock_and_caller<L>, With &&...) -> shared_guard<L>;

/* The same if no writer is in the way now; is true while it holds the lock. */
template <detail::guardable L>
struct [[nodiscard]] shared_try_guard
    : detail::guard_of<L, detail::to_read, detail::trying, detail::left_on<L>> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit shared_try_guard(typename shared_try_guard::
								 lock_here at,
							 With &&...with)
	    : shared_try_guard::guard_of(at, with...)
	{
	}
	[[gnu::always_inline]] ~shared_try_guard() = default;
	shared_try_guard(const shared_try_guard &) = delete;
	shared_try_guard &operator=(const shared_try_guard &) = delete;
};

template <typename L, typename... With>
shared_try_guard(L &, With &&...) -> shared_try_guard<L>;
template <typename L, typename... With>
shared_try_guard(detail::lock_and_caller<L>, With &&...) -> shared_try_guard<L>;

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

template <detail::guardable L>
struct [[nodiscard]] irq_shared_guard
    : detail::guard_of<L, detail::to_read, detail::waiting, detail::irqs_off> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_shared_guard(typename irq_shared_guard::
								 lock_here at,
							 With &&...with)
	    : irq_shared_guard::guard_of(at, with...)
	{
	}
	[[gnu::always_inline]] ~irq_shared_guard() = default;
	irq_shared_guard(const irq_shared_guard &) = delete;
	irq_shared_guard &operator=(const irq_shared_guard &) = delete;
};

template <typename L, typename... With>
irq_shared_guard(L &, With &&...) -> irq_shared_guard<L>;
template <typename L, typename... With>
irq_shared_guard(detail::lock_and_caller<L>, With &&...) -> irq_shared_guard<L>;

/* The same if no writer is in the way now; is true while it holds the lock. */
template <detail::guardable L>
struct [[nodiscard]] irq_shared_try_guard
    : detail::guard_of<L, detail::to_read, detail::trying, detail::irqs_off> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_shared_try_guard(typename irq_shared_try_guard::
								     lock_here
									     at,
							     With &&...with)
	    : irq_shared_try_guard::guard_of(at, with...)
	{
	}
	[[gnu::always_inline]] ~irq_shared_try_guard() = default;
	irq_shared_try_guard(const irq_shared_try_guard &) = delete;
	irq_shared_try_guard &operator=(const irq_shared_try_guard &) = delete;
};

template <typename L, typename... With>
irq_shared_try_guard(L &, With &&...) -> irq_shared_try_guard<L>;
template <typename L, typename... With>
irq_shared_try_guard(detail::lock_and_caller<L>, With &&...)
	-> irq_shared_try_guard<L>;

} // namespace klock
