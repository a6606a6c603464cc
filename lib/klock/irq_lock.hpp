/* SPDX-License-Identifier: MIT */
/*
 * irq_lock - a lock whose type says whether handlers take it or only threads
 *
 *	irq_lock<L>	a handler takes it, too. Only irq_guard, irq_try_guard
 *			and irq_pair_guard take it, and, if readers share it,
 *			irq_shared_guard and irq_shared_try_guard. A plain guard
 *			does not compile, and there is no lock() to call by hand
 *	thread_lock<L>	no handler takes it: any guard takes it. If it is
 *			checked, a handler that takes it or reads it panics
 *
 *	constinit klock::irq_lock<klock::ticket_lock<klock::u8>> queue;
 *
 *	klock::irq_guard held(queue);
 *
 * Algorithm:   that of L, which it contains
 * Source:      the idea that a type forbids the wrong guard: the Rust world's
 *              IRQ-safe lock wrappers; the code is ours.
 * Use when:    a kernel has handlers: each lock says once which kind it is, and
 *              the compiler refuses wrong guards. L is any lock, such as
 *              ticket_lock.
 * Size:        that of L, no byte more      Checked: unit/irq_lock: sizes
 * Zero bytes:  as L                         Checked: unit/irq_lock: sizes
 * Lifetime:    as L                    Checked: unit/irq_lock: lifetime
 * Fairness:    that of L; no instruction is added
 *                                      Checked: codegen/guards
 * Capacity:    that of L. For an irq_lock CPUs x 2 are enough: a CPU contends
 *              twice only if an NMI handler tries, by irq_try_guard
 *                                      Checked: unit/irq_lock: capacity
 * Context:     irq_lock: any that L allows. thread_lock: threads; with
 *              checked_if<true, thread_lock<L>> a handler that takes it or
 *              tries to panics, if klock_os_context() can tell handlers. Checks
 *              go around a thread_lock, but inside an irq_lock:
 *              irq_lock<checked_if<debug, L>>. The other way round does not
 *              compile.
 * Assumes:     what L assumes, and klock/irq.hpp of the port
 *
 * State (of L):  as L
 *
 * Ordering:    that of L               Checked: codegen/guards
 *
 * Cost:        uncontended: that of L; no instruction is added
 *                                      Checked: codegen/guards
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/types.hpp>

namespace klock {

template <any_lock L>
struct irq_lock : detail::reader_constants_of<L>,
		  detail::around<L>,
		  detail::questions_of<irq_lock<L>, L, detail::site_of<L>> {
	static_assert(!thread_only_lock<L>,
		      "a lock is for handlers too, or for threads alone: "
		      "irq_lock<thread_lock<L>> is neither");

	static_assert(!sleeping<L>, "a handler takes no lock whose waiters "
				    "sleep: thread_lock");

	/* The lock that guards find inside. */
	using taken_by_irq_guard_alone = L;

	/* Contexts that may hold or wait at once; max_readers is L's. */
	static constexpr u64 max_contenders = L::max_contenders;

	using detail::around<L>::around;

      private:
	friend typename irq_lock::questions_of;

	/* A question of the lock inside. */
	template <typename Verb, typename... With>
	decltype(auto) pass(Verb verb, detail::site_of<L> by,
			    With &...with) const
	{
		return detail::hand_on(verb, this->inner, by, with...);
	}
};

/*
 * L, with the promise that no handler takes it. It has all members of L. A
 * checked_lock around it panics if a handler takes it.
 */
template <any_lock L>
struct thread_lock : L {
	static_assert(!detail::is_checked<L>,
		      "checked_lock<thread_lock<L>>: inside of it, checks know "
		      "nothing of threads");

	/* checked_lock looks for this name. */
	using taken_in_threads_alone = L;
	using L::L;
};

} // namespace klock
