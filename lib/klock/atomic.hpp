/* SPDX-License-Identifier: MIT */
/*
 * atomic - shared values whose every operation says its memory order
 *
 * The only way in which klock's locks touch memory that several CPUs write.
 * An order is part of the operation's name and has no default:
 *
 *	klock::atomic<klock::u32> ready{0};
 *	ready.store_release(1);
 *	ready.await_eq_acquire(1);
 *
 * What an operation is made of comes from the port on the include path
 * (arch/CONTRACT.md): a machine instruction, an event in the model checker, a
 * cost in the coherence simulator. The code above it does not change.
 *
 * Context: any (thread, interrupt, NMI); the await operations wait and belong
 * only where the awaited CPU is sure to go on.
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
 * atomic<T> - one shared value; T is an unsigned integer or a pointer
 *
 * Reads and writes of it are single-copy atomic. It cannot be copied or moved;
 * constinit works.
 */
template <typename T>
struct atomic {
	constexpr atomic() : at(T{}) {}
	constexpr explicit atomic(T v) : at(v) {}
	atomic(const atomic &) = delete;
	atomic &operator=(const atomic &) = delete;

	/* -- Loads and stores -- */

	T load_relaxed(site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return arch::load<order::relaxed>(at, s);
	}

	T load_acquire(site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return arch::load<order::acquire>(at, s);
	}

	T load_seq_cst(site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return arch::load<order::seq_cst>(at, s);
	}

	void store_relaxed(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		arch::store<order::relaxed>(at, v, s);
	}

	void store_release(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		arch::store<order::release>(at, v, s);
	}

	void store_seq_cst(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		arch::store<order::seq_cst>(at, v, s);
	}

	/* -- Read-modify-write: each returns the value it found -- */

	T exchange_relaxed(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::exchange<order::relaxed>(at, v, s);
	}

	T exchange_acquire(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::exchange<order::acquire>(at, v, s);
	}

	T exchange_release(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::exchange<order::release>(at, v, s);
	}

	T exchange_acq_rel(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::exchange<order::acq_rel>(at, v, s);
	}

	T exchange_seq_cst(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::exchange<order::seq_cst>(at, v, s);
	}

	T fetch_add_relaxed(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_add<order::relaxed>(at, v, s);
	}

	T fetch_add_acquire(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_add<order::acquire>(at, v, s);
	}

	T fetch_add_release(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_add<order::release>(at, v, s);
	}

	T fetch_add_acq_rel(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_add<order::acq_rel>(at, v, s);
	}

	T fetch_or_relaxed(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_or<order::relaxed>(at, v, s);
	}

	T fetch_or_acquire(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_or<order::acquire>(at, v, s);
	}

	T fetch_or_release(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_or<order::release>(at, v, s);
	}

	T fetch_or_acq_rel(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_or<order::acq_rel>(at, v, s);
	}

	T fetch_and_relaxed(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_and<order::relaxed>(at, v, s);
	}

	T fetch_and_acquire(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_and<order::acquire>(at, v, s);
	}

	T fetch_and_release(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_and<order::release>(at, v, s);
	}

	T fetch_and_acq_rel(T v, site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::fetch_and<order::acq_rel>(at, v, s);
	}

	/*
	 * Stores desired if the value is expected; true if it was. Never fails
	 * spuriously; where it fails, expected is what was found, and that read
	 * has the order of the operation's name less its release.
	 */
	[[nodiscard]] bool compare_exchange_relaxed(T &expected, T desired,
						    site s = {__builtin_FILE(),
							      __builtin_LINE()})
	{
		return arch::compare_exchange<order::relaxed>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool compare_exchange_acquire(T &expected, T desired,
						    site s = {__builtin_FILE(),
							      __builtin_LINE()})
	{
		return arch::compare_exchange<order::acquire>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool compare_exchange_release(T &expected, T desired,
						    site s = {__builtin_FILE(),
							      __builtin_LINE()})
	{
		return arch::compare_exchange<order::release>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool compare_exchange_acq_rel(T &expected, T desired,
						    site s = {__builtin_FILE(),
							      __builtin_LINE()})
	{
		return arch::compare_exchange<order::acq_rel>(at, expected,
							      desired, s);
	}

	/* -- Waiting: each returns the value that ended the wait -- */

	/* Until done(value) holds. */
	template <typename Predicate>
	T await_relaxed(Predicate done,
			site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return arch::await<order::relaxed>(at, done, s);
	}

	template <typename Predicate>
	T await_acquire(Predicate done,
			site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return arch::await<order::acquire>(at, done, s);
	}

	/* Until the value is v; until it is not. */
	T await_eq_relaxed(T v,
			   site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return await_relaxed([v](T now) { return now == v; }, s);
	}

	T await_eq_acquire(T v,
			   site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return await_acquire([v](T now) { return now == v; }, s);
	}

	T await_ne_acquire(T v,
			   site s = {__builtin_FILE(), __builtin_LINE()}) const
	{
		return await_acquire([v](T now) { return now != v; }, s);
	}

	/*
	 * Until done(value) holds, reading no more often than pace says: after
	 * a read that does not end the wait, pace(value) turns of cpu_relax()
	 * pass before the next. pace may keep state: exponential back-off.
	 */
	template <typename Predicate, typename Pace>
	T await_paced_relaxed(Predicate done, Pace pace,
			      site s = {__builtin_FILE(),
					__builtin_LINE()}) const
	{
		return arch::await_paced<order::relaxed>(at, done, pace, s);
	}

	template <typename Predicate, typename Pace>
	T await_paced_acquire(Predicate done, Pace pace,
			      site s = {__builtin_FILE(),
					__builtin_LINE()}) const
	{
		return arch::await_paced<order::acquire>(at, done, pace, s);
	}

	/*
	 * Exchanges in v again and again until done(what it found) holds. An
	 * exchange that does not end the wait must put back what it found: v
	 * is what a waiter sees anyway (test-and-set).
	 */
	template <typename Predicate>
	T await_exchange_acquire(T v, Predicate done,
				 site s = {__builtin_FILE(), __builtin_LINE()})
	{
		return arch::await_exchange<order::acquire>(at, v, done, s);
	}

	/*
	 * Until done(this value) or other_done(the other's value) holds, read
	 * in that order, turn by turn.
	 */
	template <typename Predicate, typename U, typename OtherPredicate>
	void await_either_acquire(Predicate done, const atomic<U> &other,
				  OtherPredicate other_done,
				  site s = {__builtin_FILE(),
					    __builtin_LINE()}) const
	{
		arch::await_either<order::acquire>(at, done, other.at,
						   other_done, s);
	}

      private:
	template <typename U>
	friend struct atomic;

	arch::cell<T> at;
};

/* Orders this CPU's own accesses; needed only by locks without RMW. */
inline void fence_seq_cst(site s = {__builtin_FILE(), __builtin_LINE()})
{
	arch::fence<order::seq_cst>(s);
}

inline void fence_acquire(site s = {__builtin_FILE(), __builtin_LINE()})
{
	arch::fence<order::acquire>(s);
}

inline void fence_release(site s = {__builtin_FILE(), __builtin_LINE()})
{
	arch::fence<order::release>(s);
}

} // namespace klock
