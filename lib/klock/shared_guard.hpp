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

namespace detail {

/* What such a guard of this lock cannot be made for: one error, and why. */
template <typename L>
struct unreadable {
	static_assert(shared_lockable<inside<L>>,
		      "this lock has no lock_shared(): one alone can hold it");
};

/* What a shared_guard is not for. */
template <typename L>
concept not_read_plainly = !interruptible_shared_lock<L> &&
			   (irq_only_lock<L> || !shared_lockable<L>);

template <typename L>
struct not_plainly : unreadable<L> {
	static_assert(!shared_lockable<inside<L>>,
		      "an irq_lock is read by irq_shared_guard: an interrupt "
		      "handler takes it, too");
};

} // namespace detail

template <detail::guardable L>
struct [[nodiscard]] shared_guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<L>;

	/* with: nothing, or the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit shared_guard(lock_here at,
						     With &&...with)
	    : taken(detail::waiting{}, at, with...)
	{
	}
	[[gnu::always_inline]] ~shared_guard() = default;
	shared_guard(const shared_guard &) = delete;
	shared_guard &operator=(const shared_guard &) = delete;

	/* Before the block ends. by: the caller, found out by itself. */
	void unlock(call_site by = caller_site()) { taken.unlock(by); }

      private:
	detail::acquisition<L, detail::to_read> taken;
};

/* Of an irq_lock, or of a lock without readers. */
template <detail::guardable L>
	requires detail::not_read_plainly<L>
struct shared_guard<L> : private detail::not_plainly<L> {
	template <typename... Given>
	explicit shared_guard(Given &&...);
	void unlock();
};

template <typename L, typename... With>
shared_guard(L &, With &&...) -> shared_guard<L>;
template <typename L, typename... With>
shared_guard(detail::here<L>, With &&...) -> shared_guard<L>;

/* The same if no writer is in the way now; is true while it holds the lock. */
template <detail::guardable L>
struct [[nodiscard]] shared_try_guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<L>;

	/* with: nothing, or the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit shared_try_guard(lock_here at,
							 With &&...with)
	    : taken(detail::trying{}, at, with...)
	{
	}
	[[gnu::always_inline]] ~shared_try_guard() = default;
	shared_try_guard(const shared_try_guard &) = delete;
	shared_try_guard &operator=(const shared_try_guard &) = delete;

	/* Whether the lock is held. */
	explicit operator bool() const & { return taken.is_held(); }
	explicit operator bool() const && = delete;

	/* Before the block ends; does nothing where it holds nothing. */
	void unlock(call_site by = caller_site()) { taken.unlock(by); }

      private:
	detail::acquisition<L, detail::to_read> taken;
};

/* As shared_guard's. */
template <detail::guardable L>
	requires detail::not_read_plainly<L>
struct shared_try_guard<L> : private detail::not_plainly<L> {
	template <typename... Given>
	explicit shared_try_guard(Given &&...);
	explicit operator bool() const;
	void unlock();
};

template <typename L, typename... With>
shared_try_guard(L &, With &&...) -> shared_try_guard<L>;
template <typename L, typename... With>
shared_try_guard(detail::here<L>, With &&...) -> shared_try_guard<L>;

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
