/* SPDX-License-Identifier: MIT */
/*
 * atomic_fields - up to four counters in one word, decided over as one
 *
 * What compact reader-writer locks are made of; atomic_pair is the case of two,
 * with names. Orders are in the names, as in <klock/atomic.hpp>, and so is the
 * context: any.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/*
 * atomic_fields<T, N> - N counters, reached one by one and as one word
 *
 * T is u8, u16 or u32, N is 2, 3 or 4, and all together have no more than 8
 * bytes; of three fields the word has room for four. A field is operated on by
 * plain narrow accesses, which leave the others alone. The whole is changed by
 * one instruction: a compare-and-swap, where a decision over several fields
 * must not be bypassed (ABA); an add, where several change at once.
 */
template <typename T, usize N>
struct atomic_fields {
	static_assert(N >= 2 && N <= 4, "two, three or four fields");
	static_assert(detail::fields_in_word<N> * sizeof(T) <= 8,
		      "over 8 bytes: no CPU changes them at once");

	constexpr atomic_fields() : at(fields<T, N>{}) {}
	constexpr explicit atomic_fields(fields<T, N> v) : at(v) {}
	atomic_fields(const atomic_fields &) = delete;
	atomic_fields &operator=(const atomic_fields &) = delete;

	template <usize I>
	T load_relaxed(site s = caller_site<site>()) const
	{
		return arch::load_field<I, order::relaxed>(at, s);
	}

	template <usize I>
	T load_acquire(site s = caller_site<site>()) const
	{
		return arch::load_field<I, order::acquire>(at, s);
	}

	template <usize I>
	void store_relaxed(T v, site s = caller_site<site>())
	{
		arch::store_field<I, order::relaxed>(at, v, s);
	}

	template <usize I>
	void store_release(T v, site s = caller_site<site>())
	{
		arch::store_field<I, order::release>(at, v, s);
	}

	/* Puts another value into one field alone; returns what it was. */
	template <usize I>
	T exchange_acq_rel(T v, site s = caller_site<site>())
	{
		return arch::exchange_field<I, order::acq_rel>(at, v, s);
	}

	/* Adds to one field alone, modulo its own width; returns what it was */
	template <usize I>
	T fetch_add_relaxed(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::relaxed>(at, v, s);
	}

	template <usize I>
	T fetch_add_acquire(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::acquire>(at, v, s);
	}

	template <usize I>
	T fetch_add_release(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::release>(at, v, s);
	}

	template <usize I>
	T fetch_add_acq_rel(T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::acq_rel>(at, v, s);
	}

	/* Waits as atomic<T> does, on one field. */
	template <usize I, typename Predicate>
	T await_acquire(Predicate done, site s = caller_site<site>()) const
	{
		return arch::await_field<I, order::acquire>(at, done, s);
	}

	template <usize I>
	T await_eq_relaxed(T v, site s = caller_site<site>()) const
	{
		return arch::await_field<I, order::relaxed>(
			at, [v](T now) { return now == v; }, s);
	}

	template <usize I>
	T await_eq_acquire(T v, site s = caller_site<site>()) const
	{
		return arch::await_field<I, order::acquire>(
			at, [v](T now) { return now == v; }, s);
	}

	/* All fields at once: true, and desired stored, if all were as
	 * expected. */
	[[nodiscard]] bool
	compare_exchange_acquire(fields<T, N> expected, fields<T, N> desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange_fields<order::acquire>(
			at, expected, desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_acq_rel(fields<T, N> expected, fields<T, N> desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange_fields<order::acq_rel>(
			at, expected, desired, s);
	}

	/*
	 * Takes each field that differs from `from` to `to`, all at once; what
	 * others do to the other fields meanwhile stands. Only for who knows
	 * that no field leaves its range: it holds `from` and nobody else
	 * changes it, or `to` is less and `from` is a part of what it holds.
	 */
	void advance_release(fields<T, N> from, fields<T, N> to,
			     site s = caller_site<site>())
	{
		arch::advance_fields<order::release>(at, from, to, s);
	}

      private:
	arch::field_cell<T, N> at;
};

} // namespace klock
