/* SPDX-License-Identifier: MIT */
/*
 * atomic_waits - how a CPU waits for a shared value
 *
 * The half of atomic<T> (<klock/atomic.hpp>) that waits. A wait is an operation
 * of its own, so that a port can do it as its CPU does it best, a checker sees
 * a wait and no endless loop, and a simulator a line that is kept.
 *
 * Context: any; but a wait belongs only where the awaited CPU is sure to go on.
 */
#pragma once

#include <klock/arch/atomic_ops.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * The place that an operation is called from, for the checker's reports. Each
 * operation takes it by a defaulted argument; it is empty in a kernel.
 */
using arch::site;

/*
 * atomic_waits<T> - where one shared value lives, and the waits for it
 *
 * The base of atomic<T>: name that one.
 */
template <typename T>
struct atomic_waits {
	static_assert(atomic_value<T>,
		      "klock::atomic<T>: T is a bool, an enum, an integer or "
		      "a pointer, and no wider than a pointer");

	constexpr explicit atomic_waits(T v) : at(v) {}
	atomic_waits(const atomic_waits &) = delete;
	atomic_waits &operator=(const atomic_waits &) = delete;

	/* -- Waiting: each returns the value that ended the wait -- */

	/* Until done(value) holds. */
	template <typename Predicate>
	T await_relaxed(Predicate done, site s = caller_site<site>()) const
	{
		return arch::await<order::relaxed>(at, done, s);
	}

	template <typename Predicate>
	T await_acquire(Predicate done, site s = caller_site<site>()) const
	{
		return arch::await<order::acquire>(at, done, s);
	}

	template <typename Predicate>
	T await_seq_cst(Predicate done, site s = caller_site<site>()) const
	{
		return arch::await<order::seq_cst>(at, done, s);
	}

	/* Until the value is v; until it is not. */
	T await_eq_relaxed(T v, site s = caller_site<site>()) const
	{
		return await_relaxed([v](T now) { return now == v; }, s);
	}

	T await_eq_acquire(T v, site s = caller_site<site>()) const
	{
		return await_acquire([v](T now) { return now == v; }, s);
	}

	T await_ne_relaxed(T v, site s = caller_site<site>()) const
	{
		return await_relaxed([v](T now) { return now != v; }, s);
	}

	T await_ne_acquire(T v, site s = caller_site<site>()) const
	{
		return await_acquire([v](T now) { return now != v; }, s);
	}

	/*
	 * Until done(value) holds, reading no more often than pace says: after
	 * a read that does not end the wait, pace(value) spin iterations
	 * pass before the next. pace may keep state: exponential back-off.
	 */
	template <typename Predicate, typename Pace>
	T await_paced_relaxed(Predicate done, Pace pace,
			      site s = caller_site<site>()) const
	{
		return arch::await_paced<order::relaxed>(at, done, pace, s);
	}

	template <typename Predicate, typename Pace>
	T await_paced_acquire(Predicate done, Pace pace,
			      site s = caller_site<site>()) const
	{
		return arch::await_paced<order::acquire>(at, done, pace, s);
	}

	/*
	 * Until patience(value) spin iterations in a row have found the same
	 * value: 0 ends the wait at the first look, endless never. Any change
	 * of the value begins the count anew. Returns the value that was last
	 * seen, from which the caller knows whether it came or patience ran
	 * out. patience keeps no state: the same value, the same number.
	 */
	template <typename Patience>
	T await_patient_relaxed(Patience patience,
				site s = caller_site<site>()) const
	{
		return arch::await_patient<order::relaxed>(at, patience, s);
	}

	template <typename Patience>
	T await_patient_acquire(Patience patience,
				site s = caller_site<site>()) const
	{
		return arch::await_patient<order::acquire>(at, patience, s);
	}

	/*
	 * Until done(value) holds, or the CPU's clock, cycles(), shows the
	 * deadline; it looks at least once. Returns the value that was last
	 * seen, from which the caller knows which it was. Needs a clock:
	 * cycles_usable() (cpu.hpp).
	 */
	template <typename Predicate>
	T await_until_relaxed(Predicate done, u64 deadline,
			      site s = caller_site<site>()) const
	{
		return arch::await_until<order::relaxed>(at, done, deadline, s);
	}

	template <typename Predicate>
	T await_until_acquire(Predicate done, u64 deadline,
			      site s = caller_site<site>()) const
	{
		return arch::await_until<order::acquire>(at, done, deadline, s);
	}

	/*
	 * Exchanges in v again and again until done(what it found) holds. An
	 * exchange that does not end the wait must put back what it found: v
	 * is what a waiter sees anyway (test-and-set).
	 */
	template <typename Predicate>
	T await_exchange_acquire(T v, Predicate done,
				 site s = caller_site<site>())
	{
		return arch::await_exchange<order::acquire>(at, v, done, s);
	}

	/*
	 * Until done(this value) or other_done(the other's value) holds, read
	 * in that order, turn by turn.
	 */
	template <typename Predicate, typename U, typename OtherPredicate>
	void await_either_acquire(Predicate done, const atomic_waits<U> &other,
				  OtherPredicate other_done,
				  site s = caller_site<site>()) const
	{
		arch::await_either<order::acquire>(at, done, other.at,
						   other_done, s);
	}

      protected:
	/* Where the value lives; atomic<T> works on it, too. */
	arch::cell<T> at;

      private:
	template <typename U>
	friend struct atomic_waits;
};

} // namespace klock
