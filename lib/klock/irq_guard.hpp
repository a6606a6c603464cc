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
 * Takes what guard takes, except adopt: the guard could not know the state of
 * interrupts from before the lock was taken. held.unlock() releases early, then
 * restores.
 *
 * A node or a number that is chosen by the CPU must be chosen with interrupts
 * off as well: otherwise a handler may take that node first, or the thread may
 * move to another CPU. So pass a function, and not its result; it is called
 * after interrupts went off, before the lock is touched:
 *
 *	clh_node node[max_cpus];
 *	clh_node &my_node() { return node[klock::cpu_id()]; }
 *
 *	klock::irq_guard held(clh, my_node);		not: my_node()
 *	klock::irq_guard held(bakery, my_number);	not: my_number()
 *	klock::irq_guard held(bakery);			asks klock_os_cpu_id()
 *
 * A lambda that returns a node says so: [&]() -> klock::clh_node & { ... }.
 * Where critical sections nest, each level needs a node of its own.
 *
 * Context: thread and maskable interrupts. An NMI is not held off: its handler
 * may only try_lock(). Guards must end in the reverse of the order in which
 * they began: the innermost restores first. For locks that are released in
 * another order, see lib/docs/take-a-lock.md.
 */
#pragma once

#include <klock/detail/arguments.hpp>
#include <klock/detail/taking.hpp>
#include <klock/guard.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>

namespace klock {

namespace detail {
/* A member of its own, so that it is constructed before the guard and destroyed
 * after it. */
struct irqs_off {
	static constexpr bool disables = true;

	[[gnu::always_inline]] irqs_off() : before(irq_save()) {}
	[[gnu::always_inline]] ~irqs_off() { irq_restore(before); }
	irqs_off(const irqs_off &) = delete;
	irqs_off &operator=(const irqs_off &) = delete;

	/* Restores before the end; the end then restores "off", which does
	 * nothing */
	void restore()
	{
		const irq_state off = irq_save();

		irq_restore(before);
		before = off;
	}
	/* Disables interrupts again after restore(). */
	void disable() { before = irq_save(); }

      private:
	irq_state before;
};
} // namespace detail

template <typename L>
struct [[nodiscard]] irq_guard
    : detail::guard_of<L, detail::to_write, detail::waiting, detail::irqs_off> {
	static_assert(!detail::guardable<L> ||
			      !sleeping<detail::inside<detail::lock_of<L>>>,
		      "a lock whose waiters sleep is taken with interrupts on: "
		      "guard");

	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_guard(typename irq_guard::lock_here
							  at,
						  With &&...with)
	    : irq_guard::guard_of(at, with...)
	{
	}
	/* Deleted: it could not know the state before. */
	irq_guard(typename irq_guard::lock_here, adopting) = delete;
	template <typename With>
	irq_guard(typename irq_guard::lock_here, With &&, adopting) = delete;
	[[gnu::always_inline]] ~irq_guard() = default;
	irq_guard(const irq_guard &) = delete;
	irq_guard &operator=(const irq_guard &) = delete;
};

template <typename L, typename... With>
irq_guard(L &, With &&...) -> irq_guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
irq_guard(detail::lock_and_caller<L>, With &&...)
	-> irq_guard<detail::guarded<L, With...>>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
irq_guard(const L &&, With &&...) -> irq_guard<const L>;

/*
 * irq_try_guard - try_guard, for a lock that an interrupt handler takes too
 *
 *	if (klock::irq_try_guard held{lock}) {
 *		...			interrupts off, the lock is held
 *	}				unlocked, then as they were
 *
 * Interrupts go off before the lock is tried. If that fails, they are restored
 * at once, not at the end of the block: so the code that runs instead has
 * interrupts on. held.unlock() releases early, then restores.
 *
 * Takes what irq_guard takes, also functions for a node or a number
 * (irq_guard.hpp); the lock must have a try_lock(). Without a name it does not
 * compile (guard.hpp).
 *
 * Context: thread and maskable interrupts; an NMI handler too, for a lock whose
 * try_lock() allows it.
 */

template <typename L>
struct [[nodiscard]] irq_try_guard
    : detail::guard_of<L, detail::to_write, detail::trying, detail::irqs_off> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit irq_try_guard(typename irq_try_guard::
							      lock_here at,
						      With &&...with)
	    : irq_try_guard::guard_of(at, with...)
	{
	}
	/* Deleted: it could not know the state before. */
	irq_try_guard(typename irq_try_guard::lock_here, adopting) = delete;
	template <typename With>
	irq_try_guard(typename irq_try_guard::lock_here, With &&,
		      adopting) = delete;
	[[gnu::always_inline]] ~irq_try_guard() = default;
	irq_try_guard(const irq_try_guard &) = delete;
	irq_try_guard &operator=(const irq_try_guard &) = delete;
};

template <typename L, typename... With>
irq_try_guard(L &, With &&...) -> irq_try_guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
irq_try_guard(detail::lock_and_caller<L>, With &&...)
	-> irq_try_guard<detail::guarded<L, With...>>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
irq_try_guard(const L &&, With &&...) -> irq_try_guard<const L>;

/*
 * irq_pair_guard - pair_guard, for locks that interrupt handlers take too
 *
 *	{
 *		klock::irq_pair_guard held(a, b);	interrupts off, the two
 *	}			both unlocked, then interrupts as they were
 *
 *	klock::irq_pair_guard held(a, klock::with(clh, my_node));
 *
 * The order is that of pair_guard; a function that picks a node is asked
 * with interrupts off, as in irq_guard.hpp.
 */

template <detail::pairable A, detail::pairable B>
struct [[nodiscard]] irq_pair_guard
    : detail::pair_guard_of<A, B, detail::irqs_off> {
	static_assert(!detail::half_of_pair<A>::sleeps &&
			      !detail::half_of_pair<B>::sleeps,
		      "a lock whose waiters sleep is taken with interrupts on: "
		      "pair_guard");

	/* a, b: a lock, or with(lock, node). */
	template <typename First, typename Second>
	[[nodiscard("a guard without a name releases at once")]] irq_pair_guard(
		First &&a, Second &&b, call_site by = caller_site())
	    : irq_pair_guard::pair_guard_of(a, b, by)
	{
	}
	irq_pair_guard(const irq_pair_guard &) = delete;
	irq_pair_guard &operator=(const irq_pair_guard &) = delete;
};

template <detail::pairable A, detail::pairable B>
irq_pair_guard(A &&, B &&) -> irq_pair_guard<A, B>;

} // namespace klock
