/* SPDX-License-Identifier: MIT */
/*
 * atomic_pair - two counters side by side, decided over as one
 *
 * What a compact ticket lock is made of: atomic_fields<T, 2>, whose fields have
 * the names first and second. Orders are in the names, as in
 * <klock/atomic.hpp>, and so is the context: any.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/*
 * atomic_pair<T> - two counters that are reached one by one and as one word
 *
 * T is u8, u16 or u32. The halves are operated on by plain narrow accesses; the
 * whole, by one compare-and-swap of twice the width, is where a decision on
 * both counters is made that nobody can get in between of (ABA).
 */
template <typename T>
struct atomic_pair {
	constexpr atomic_pair() : at(fields<T, 2>{}) {}
	constexpr explicit atomic_pair(pair<T> v) : at(both(v)) {}
	atomic_pair(const atomic_pair &) = delete;
	atomic_pair &operator=(const atomic_pair &) = delete;

	template <half H>
	T load_relaxed(site s = caller_site<site>()) const
	{
		return arch::load_field<place<H>, order::relaxed>(at, s);
	}

	template <half H>
	T load_acquire(site s = caller_site<site>()) const
	{
		return arch::load_field<place<H>, order::acquire>(at, s);
	}

	template <half H>
	void store_relaxed(T v, site s = caller_site<site>())
	{
		arch::store_field<place<H>, order::relaxed>(at, v, s);
	}

	template <half H>
	void store_release(T v, site s = caller_site<site>())
	{
		arch::store_field<place<H>, order::release>(at, v, s);
	}

	/* Puts another value into one half alone; returns what it was. */
	template <half H>
	T exchange_acq_rel(T v, site s = caller_site<site>())
	{
		return arch::exchange_field<place<H>, order::acq_rel>(at, v, s);
	}

	/* Adds to one half alone, modulo its own width; returns what it was. */
	template <half H>
	T fetch_add_relaxed(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<place<H>, order::relaxed>(at, v,
								       s);
	}

	template <half H>
	T fetch_add_acquire(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<place<H>, order::acquire>(at, v,
								       s);
	}

	template <half H>
	T fetch_add_release(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<place<H>, order::release>(at, v,
								       s);
	}

	template <half H>
	T fetch_add_acq_rel(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<place<H>, order::acq_rel>(at, v,
								       s);
	}

	/* Waits as atomic<T> does, on one half. */
	template <half H>
	T await_eq_relaxed(T v, site s = caller_site<site>()) const
	{
		return arch::await_field<place<H>, order::relaxed>(
			at, [v](T now) { return now == v; }, s);
	}

	template <half H>
	T await_eq_acquire(T v, site s = caller_site<site>()) const
	{
		return arch::await_field<place<H>, order::acquire>(
			at, [v](T now) { return now == v; }, s);
	}

	/* Exchanges v in until done(found) holds of what it finds. */
	template <half H, typename Predicate>
	T await_exchange_acquire(T v, Predicate done,
				 site s = caller_site<site>())
	{
		return arch::await_exchange_field<place<H>, order::acquire>(
			at, v, done, s);
	}

	template <half H, typename Predicate, typename Pace>
	T await_paced_acquire(Predicate done, Pace pace,
			      site s = caller_site<site>()) const
	{
		return arch::await_field_paced<place<H>, order::acquire>(
			at, done, pace, s);
	}

	/* Both halves at once: true, and desired stored, if both were as
	 * expected. */
	[[nodiscard]] bool
	compare_exchange_relaxed(pair<T> expected, pair<T> desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange_fields<order::relaxed>(
			at, both(expected), both(desired), s);
	}

	[[nodiscard]] bool
	compare_exchange_acquire(pair<T> expected, pair<T> desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange_fields<order::acquire>(
			at, both(expected), both(desired), s);
	}

      private:
	template <half H>
	static constexpr usize place = static_cast<usize>(H);

	static constexpr fields<T, 2> both(pair<T> v)
	{
		return {{v.first, v.second}};
	}

	arch::field_cell<T, 2> at;
};

} // namespace klock
