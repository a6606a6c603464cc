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
 * written: other readers are inside. For a lock that is indexed by CPU for its
 * readers, pass the number, or a function that returns it, or nothing: then the
 * kernel is asked (klock/os.hpp).
 *
 * held.unlock() releases early, before the block ends; once. A guard without a
 * name, klock::shared_guard{lock}, would release at once: the compiler warns.
 *
 *	if (!lock.try_lock_shared())
 *		return busy;
 *	klock::shared_guard held(lock, klock::adopt);	read already
 *
 * No upgrade: a guard inside a shared_guard of the same lock waits for ever;
 * see upgradable_guard, below. A second shared_guard may do so, too: see the
 * lock's Context.
 *
 * Context: that of the lock inside. A lock that a handler takes too, to read or
 * to write, needs irq_shared_guard instead, unless the lock's Context says
 * otherwise. An irq_lock (irq_lock.hpp) does not compile here.
 * Size: as guard's		Checked: unit/guard: sizes
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/detail/arguments.hpp>
#include <klock/detail/taking.hpp>
#include <klock/irq_guard.hpp>
#include <klock/types.hpp>

namespace klock {

template <typename L>
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
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] shared_guard(typename shared_guard::lock_here at,
					    adopting)
	    : shared_guard::guard_of(adopt, at)
	{
	}
	template <typename With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] shared_guard(typename shared_guard::lock_here at,
					    With &&with, adopting)
	    : shared_guard::guard_of(adopt, at, with)
	{
	}
	/* Refused by one error. */
	template <typename With>
	shared_guard(typename shared_guard::lock_here at, adopting, With &&)
	    : shared_guard::guard_of(adopt, at)
	{
		static_assert(detail::never<With>,
			      "adopt comes last: shared_guard held(lock, "
			      "number, klock::adopt)");
	}
	[[gnu::always_inline]] ~shared_guard() = default;
	shared_guard(const shared_guard &) = delete;
	shared_guard &operator=(const shared_guard &) = delete;
};

template <typename L, typename... With>
shared_guard(L &, With &&...) -> shared_guard<L>;
template <typename L, typename... With>
shared_guard(detail::lock_and_caller<L>, With &&...) -> shared_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
shared_guard(const L &&, With &&...) -> shared_guard<const L>;

/* Reads if no writer holds it or waits; is true while it holds the lock. */
template <typename L>
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
	/* Nothing is left to try. */
	shared_try_guard(typename shared_try_guard::lock_here,
			 adopting) = delete;
	template <typename With>
	shared_try_guard(typename shared_try_guard::lock_here, With &&,
			 adopting) = delete;
	[[gnu::always_inline]] ~shared_try_guard() = default;
	shared_try_guard(const shared_try_guard &) = delete;
	shared_try_guard &operator=(const shared_try_guard &) = delete;
};

template <typename L, typename... With>
shared_try_guard(L &, With &&...) -> shared_try_guard<L>;
template <typename L, typename... With>
shared_try_guard(detail::lock_and_caller<L>, With &&...) -> shared_try_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
shared_try_guard(const L &&, With &&...) -> shared_try_guard<const L>;

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

template <typename L>
struct [[nodiscard]] irq_shared_guard
    : detail::guard_of<L, detail::to_read, detail::waiting, detail::irqs_off> {
	static_assert(!detail::guardable<L> ||
			      !sleeping<detail::inside<detail::lock_of<L>>>,
		      "a lock whose waiters sleep is read with interrupts on: "
		      "shared_guard");

	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_shared_guard(typename irq_shared_guard::
								 lock_here at,
							 With &&...with)
	    : irq_shared_guard::guard_of(at, with...)
	{
	}
	/* It could not know what interrupts were before. */
	irq_shared_guard(typename irq_shared_guard::lock_here,
			 adopting) = delete;
	template <typename With>
	irq_shared_guard(typename irq_shared_guard::lock_here, With &&,
			 adopting) = delete;
	[[gnu::always_inline]] ~irq_shared_guard() = default;
	irq_shared_guard(const irq_shared_guard &) = delete;
	irq_shared_guard &operator=(const irq_shared_guard &) = delete;
};

template <typename L, typename... With>
irq_shared_guard(L &, With &&...) -> irq_shared_guard<L>;
template <typename L, typename... With>
irq_shared_guard(detail::lock_and_caller<L>, With &&...) -> irq_shared_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
irq_shared_guard(const L &&, With &&...) -> irq_shared_guard<const L>;

/* Reads if no writer holds it or waits; is true while it holds the lock. */
template <typename L>
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
	/* Nothing is left to try. */
	irq_shared_try_guard(typename irq_shared_try_guard::lock_here,
			     adopting) = delete;
	template <typename With>
	irq_shared_try_guard(typename irq_shared_try_guard::lock_here, With &&,
			     adopting) = delete;
	[[gnu::always_inline]] ~irq_shared_try_guard() = default;
	irq_shared_try_guard(const irq_shared_try_guard &) = delete;
	irq_shared_try_guard &operator=(const irq_shared_try_guard &) = delete;
};

template <typename L, typename... With>
irq_shared_try_guard(L &, With &&...) -> irq_shared_try_guard<L>;
template <typename L, typename... With>
irq_shared_try_guard(detail::lock_and_caller<L>, With &&...)
	-> irq_shared_try_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
irq_shared_try_guard(const L &&, With &&...) -> irq_shared_try_guard<const L>;

/*
 * upgradable_guard - takes a lock to read, and perhaps to write
 *
 *	{
 *		klock::upgradable_guard held(lock);	reads, with readers
 *		...
 *		held.upgrade();				writes, alone
 *	}						released, as it is held
 *
 * For phase_fair_lock. One at a time is inside with the readers; writers wait.
 * What it has read still stands when upgrade() has waited for the readers, so
 * two that upgrade and wait for each other cannot be written. A reader that is
 * in must not wait for another lock that its caller holds. held.try_upgrade()
 * waits for nobody: false where a reader is in, and it reads on. After it has
 * upgraded, held.downgrade() makes it a reader for the rest of the block. Each
 * while it holds, and once. What lock.try_lock_upgradable() took is released
 * by upgradable_guard held(lock, klock::adopt).
 *
 * Context: as shared_guard, irq_upgradable_guard as irq_shared_guard.
 */

namespace detail {
template <typename L, typename Irqs>
struct upgradable_guard_of : guard_of<L, to_upgrade, waiting, Irqs> {
	using typename upgradable_guard_of::guard_of::lock_here;

	[[gnu::always_inline]] explicit upgradable_guard_of(lock_here at)
	    : upgradable_guard_of::guard_of(at)
	{
	}
	[[gnu::always_inline]] upgradable_guard_of(adopting, lock_here at)
	    : upgradable_guard_of::guard_of(adopt, at)
	{
	}
	[[gnu::always_inline]] ~upgradable_guard_of() = default;
	upgradable_guard_of(const upgradable_guard_of &) = delete;
	upgradable_guard_of &operator=(const upgradable_guard_of &) = delete;

	[[gnu::always_inline]] void upgrade(call_site by = caller_site())
	{
		if (!this->check_held("upgrade() of a guard that was released",
				      by))
			return;
		this->call_held(verb::upgrade{}, by);
		this->now.value = held_to::write;
	}
	[[nodiscard, gnu::always_inline]] bool
	try_upgrade(call_site by = caller_site())
	{
		if (!this->check_held("upgrade() of a guard that was released",
				      by))
			return false;
		const bool is_writer = this->call_held(verb::try_upgrade{}, by);

		if (is_writer)
			this->now.value = held_to::write;
		return is_writer;
	}
	/* After upgrade(): the writer becomes a reader. */
	template <typename Lock = lock_of<L>>
	[[gnu::always_inline]] void downgrade(call_site by = caller_site())
	{
		static_assert(downgradable_lock<inside<Lock>>,
			      "this lock has no downgrade(): its writer cannot "
			      "become a reader");
		if (!this->check_held("downgrade of what was released", by))
			return;
		this->call_held(verb::downgrade{}, by);
		this->now.value = held_to::read;
	}
};
} // namespace detail

template <typename L>
struct [[nodiscard]] upgradable_guard
    : detail::upgradable_guard_of<L, detail::left_on<L>> {
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit upgradable_guard(typename upgradable_guard::
								 lock_here at)
	    : upgradable_guard::upgradable_guard_of(at)
	{
	}
	/* Taken by try_lock_upgradable(). */
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] upgradable_guard(typename upgradable_guard::
							lock_here at,
						adopting)
	    : upgradable_guard::upgradable_guard_of(adopt, at)
	{
	}
	/* Refused by one error. */
	template <typename First, typename... More>
	upgradable_guard(typename upgradable_guard::lock_here at, First &&,
			 More &&...)
	    : upgradable_guard::upgradable_guard_of(at)
	{
		static_assert(detail::never<First>,
			      "this lock takes neither a node nor a number: "
			      "upgradable_guard held(lock), or held(lock, "
			      "klock::adopt)");
	}
	[[gnu::always_inline]] ~upgradable_guard() = default;
	upgradable_guard(const upgradable_guard &) = delete;
	upgradable_guard &operator=(const upgradable_guard &) = delete;
};

template <typename L, typename... With>
upgradable_guard(L &, With &&...) -> upgradable_guard<L>;
template <typename L, typename... With>
upgradable_guard(detail::lock_and_caller<L>, With &&...) -> upgradable_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L>
upgradable_guard(const L &&) -> upgradable_guard<const L>;

/* An upgradable_guard with interrupts off until it releases the lock. */
template <typename L>
struct [[nodiscard]] irq_upgradable_guard
    : detail::upgradable_guard_of<L, detail::irqs_off> {
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_upgradable_guard(typename irq_upgradable_guard::
								     lock_here
									     at)
	    : irq_upgradable_guard::upgradable_guard_of(at)
	{
	}
	/* It could not know what interrupts were before. */
	irq_upgradable_guard(typename irq_upgradable_guard::lock_here,
			     adopting) = delete;
	[[gnu::always_inline]] ~irq_upgradable_guard() = default;
	irq_upgradable_guard(const irq_upgradable_guard &) = delete;
	irq_upgradable_guard &operator=(const irq_upgradable_guard &) = delete;
};

template <typename L, same_as<adopting>... With>
irq_upgradable_guard(L &, With...) -> irq_upgradable_guard<L>;
template <typename L, same_as<adopting>... With>
irq_upgradable_guard(detail::lock_and_caller<L>, With...)
	-> irq_upgradable_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L>
irq_upgradable_guard(const L &&) -> irq_upgradable_guard<const L>;

} // namespace klock
