/* SPDX-License-Identifier: MIT */
/*
 * irq_shared_lock - a lock that handlers read while threads read interruptibly
 *
 *	constinit klock::irq_shared_lock<klock::phase_fair_lock<klock::u16>>
 *		routes_lock;
 *
 *	klock::irq_guard held(routes_lock);		a writer
 *	klock::shared_guard held(routes_lock);		a thread reads
 *	klock::handler_shared_guard held(routes_lock);	a handler reads
 *	if (klock::handler_shared_try_guard held{routes_lock})
 *		...					an NMI handler may
 *
 * Algorithm:   L, and a gate for handlers. A writer that holds L shuts the gate
 *              when no handler is inside. A handler uses the gate only. It
 *              never waits for L: a writer in L may wait for the reader that
 *              the handler interrupted.
 * Source:      ours. Context of phase_fair_lock.hpp says why a handler's read
 *              may deadlock in L.
 * Use when:    handlers read data that threads read for long, and interrupts
 *              must not stay off meanwhile. Short reads: irq_lock<L>, which is
 *              L. One small value: seq_lock, seq_latch. L: phase_fair_lock,
 *              rw_ticket_lock, or one of these in a checked_lock.
 * Size:        that of L and 2 bytes, rounded up to L's alignment
 *                              Checked: unit/irq_shared_lock: sizes
 * Zero bytes:  as L            Checked: unit/irq_shared_lock: sizes
 * Lifetime:    as L, for the next thread. A handler may enter before the writer
 *              has left L, and must not free it
 *                              Checked: model/irq_shared_lock: lifetime
 * Fairness:    among threads that of L. Handlers come first: a stream of them
 *              can keep out a writer that waits for the gate
 *                       Checked: model/irq_shared_lock: handlers come first
 * Capacity:    that of L; max_readers (32,767) reads of handlers at once, which
 *              is more than CPUs x 4
 *                              Checked: unit/irq_shared_lock: many handlers
 * Context:     a thread writes by irq_guard: a plain guard does not compile. A
 *              thread reads by shared_guard or irq_shared_guard, and may be
 *              interrupted. A handler reads by handler_shared_guard; a handler
 *              that interrupts it may read, too. NMI: the try form. A handler
 *              may write only by irq_try_guard, if L has a try_lock: it may
 *              have interrupted a reader. No recursion and no upgrade, as L.
 * Assumes:     what L assumes, a compare-and-swap and an add on 2 bytes, and
 *              klock/irq.hpp of the port
 *
 * State (gate):  0 open --handler--> n reads --lock--> waits;  0 --lock--> shut
 *              --unlock, downgrade--> 0
 *
 * Ordering (beside L's own):
 *	O1  shut                 compare_exchange_acquire  pairs with O4
 *	O2  unlock               state.store_release       pairs with O3
 *	O3  try_lock_shared      compare_exchange_acquire  pairs with O2
 *	O4  unlock_shared        fetch_add_release         pairs with O1
 *                              Checked: model/irq_shared_lock: orders needed
 *
 *	L orders writers, and threads that read.
 *
 * Cost:        uncontended: a thread's read that of L; a write that of L, 1 RMW
 *              and 1 store more; a handler's read: 2 RMW, 1 line
 *                              Checked: unit/irq_shared_lock: what it adds
 */
#pragma once

#include <klock/detail/taking.hpp>
#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/irq_lock.hpp>

namespace klock {

namespace detail {

/*
 * The gate. Handlers read; the one writer that holds L shuts it while no
 * handler reads. Reads nest: a reader waits only for a writer that is inside.
 */
struct handler_gate {
	static constexpr bool is_gate = true;
	static constexpr u64 max_contenders = 0x7fff;
	static constexpr u64 max_readers = 0x7fff;

	constexpr handler_gate() = default;

	void lock()
	{
		while (!shut())
			state.await_eq_relaxed(0);
	}
	[[nodiscard]] bool try_lock() { return shut(); }
	void unlock() { state.store_release(0); /* O2 */ }

	/* Waits for the writer that is inside, on another CPU. */
	void lock_shared()
	{
		while (!try_lock_shared())
			state.await_relaxed([](u16 now) { return open(now); });
	}

	/* Takes it to read if no writer is inside; never waits. */
	[[nodiscard]] bool try_lock_shared()
	{
		u16 found = state.load_relaxed();

		while (open(found))
			if (state.compare_exchange_acquire(
				    found,
				    static_cast<u16>(found + 1))) /* O3 */
				return true;
		return false;
	}

	void unlock_shared()
	{
		(void)state.fetch_add_release(static_cast<u16>(-1)); /* O4 */
	}

	[[nodiscard]] bool is_locked() const
	{
		return state.load_relaxed() != 0;
	}

      private:
	/* The flag of a writer inside; the bits below count handlers. */
	static constexpr u16 writing = 0x8000;

	static constexpr bool open(u16 state) { return !(state & writing); }

	bool shut()
	{
		u16 nobody = 0;

		return state.compare_exchange_acquire(nobody, writing); /* O1 */
	}

	atomic<u16> state;
};

/* The type of a gate, which is checked if L is. */
template <typename L>
struct gate_of {
	using type = handler_gate;
};
template <is_checked L>
struct gate_of<L> {
	using type = typename L::template like<handler_gate>;
};

/* The verbs that take L and the gate. There are no others, so nobody waits for
 * L alone. */
struct verbs_of_gate {
	template <typename Verb>
	static constexpr bool has =
		is_one_of<Verb, verb::lock, verb::try_lock, verb::unlock,
			  verb::downgrade, verb::lock_shared,
			  verb::try_lock_shared, verb::unlock_shared>;
};

/*
 * L and the gate, which guards find inside an irq_shared_lock. A writer takes
 * both, with interrupts off; a thread that reads takes L, and a handler that
 * reads takes the gate.
 */
template <plain_shared_lock L>
struct gated : sleeps_of<L>,
	       threads_of<L>,
	       around<L>,
	       verbs_of<gated<L>, L, site_of<L>, verbs_of_gate> {
	using site = site_of<L>;
	/* For handed_over(), which refuses it. */
	using taken_with_gate = L;

	/* Contexts that may hold or wait at once, handlers apart. */
	static constexpr u64 max_contenders = L::max_contenders;
	static constexpr u64 max_readers = L::max_readers;

	using around<L>::around;

	/* -- A handler that reads -- */

	void lock_in_handler(site by = caller_site<site>())
	{
		hand_on(verb::lock_shared{}, gate, by);
	}
	/* Takes it to read if no writer is inside; never waits. */
	[[nodiscard]] bool try_lock_in_handler(site by = caller_site<site>())
	{
		return hand_on(verb::try_lock_shared{}, gate, by);
	}
	void unlock_in_handler(site by = caller_site<site>())
	{
		hand_on(verb::unlock_shared{}, gate, by);
	}

	[[nodiscard]] bool is_locked() const
	{
		return inner.is_locked() || gate.is_locked();
	}

	/* Members for a checked lock inside. */
	[[nodiscard]] bool is_held_by_me() const
		requires is_checked<L>
	{
		return inner.is_held_by_me();
	}
	static void complain_of_guard(const char *what, call_site by)
		requires is_checked<L>
	{
		L::complain_of_guard(what, by);
	}
	template <typename... Name>
		requires requires(L &l, Name... name) { l.set_name(name...); }
	void set_name(Name... name)
	{
		inner.set_name(name...);
		gate.set_name(name...);
	}

      private:
	friend typename gated::verbs_of;
	friend typename gated::questions_of;

	void pass(verb::lock verb, site by)
	{
		hand_on(verb, inner, by);
		hand_on(verb, gate, by);
	}
	/* Takes it if L is free and no handler reads; never waits. */
	bool pass(verb::try_lock verb, site by)
	{
		if (gate.is_locked() || !hand_on(verb, inner, by))
			return false;
		if (hand_on(verb, gate, by))
			return true;
		hand_on(verb::unlock{}, inner, by);
		return false;
	}
	void pass(verb::unlock verb, site by)
	{
		hand_on(verb, gate, by);
		hand_on(verb, inner, by);
	}
	/* The writer becomes a reader; handlers may read, too. */
	void pass(verb::downgrade verb, site by)
	{
		hand_on(verb::unlock{}, gate, by);
		hand_on(verb, inner, by);
	}
	/* A thread reads. */
	template <does<effect::reads, effect::tries_to_read,
		       effect::stops_reading>
			  Verb>
	decltype(auto) pass(Verb verb, site by)
	{
		return hand_on(verb, inner, by);
	}

	using around<L>::inner;

	typename gate_of<L>::type gate;
};

} // namespace detail

/* A lock that threads read with interrupts on, and that handlers which
 * interrupt them may read. */
template <plain_shared_lock L>
struct irq_shared_lock : irq_lock<detail::gated<L>> {
	/* shared_guard looks for this name. */
	using read_with_interrupts_on = L;

	using irq_lock<detail::gated<L>>::irq_lock;
};

namespace detail {

/* A guard's verbs, for a handler's read. */
struct to_read_in_handler {
	using take = verb::lock_in_handler;
	using try_to_take = verb::try_lock_in_handler;
	using release = verb::unlock_in_handler;
	template <typename>
	using needs = no_argument;

	/* Refuses any lock but an irq_shared_lock. */
	template <typename L, typename>
	static constexpr bool refuses = !interruptible_shared_lock<L>;
	static constexpr bool in_handler = true;
};

} // namespace detail

/* Reads in a handler, for the length of a block. Not in an NMI handler. */
template <typename L>
struct [[nodiscard]] handler_shared_guard
    : detail::guard_of<L, detail::to_read_in_handler, detail::waiting,
		       detail::irqs_left> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit handler_shared_guard(typename handler_shared_guard::
								     lock_here
									     at,
							     With &&...with)
	    : handler_shared_guard::guard_of(at, with...)
	{
	}
	[[gnu::always_inline]] ~handler_shared_guard() = default;
	handler_shared_guard(const handler_shared_guard &) = delete;
	handler_shared_guard &operator=(const handler_shared_guard &) = delete;
};

template <typename L>
handler_shared_guard(L &) -> handler_shared_guard<L>;
template <typename L>
handler_shared_guard(detail::lock_and_caller<L>) -> handler_shared_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L>
handler_shared_guard(const L &&) -> handler_shared_guard<const L>;

/* Reads in any handler if no writer is inside; is true while it reads. */
template <typename L>
struct [[nodiscard]] handler_shared_try_guard
    : detail::guard_of<L, detail::to_read_in_handler, detail::trying,
		       detail::irqs_left> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit handler_shared_try_guard(typename handler_shared_try_guard::
									 lock_here
										 at,
								 With &&...with)
	    : handler_shared_try_guard::guard_of(at, with...)
	{
	}
	[[gnu::always_inline]] ~handler_shared_try_guard() = default;
	handler_shared_try_guard(const handler_shared_try_guard &) = delete;
	handler_shared_try_guard &
	operator=(const handler_shared_try_guard &) = delete;
};

template <typename L>
handler_shared_try_guard(L &) -> handler_shared_try_guard<L>;
template <typename L>
handler_shared_try_guard(detail::lock_and_caller<L>)
	-> handler_shared_try_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L>
handler_shared_try_guard(const L &&) -> handler_shared_try_guard<const L>;

} // namespace klock
