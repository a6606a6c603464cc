/* SPDX-License-Identifier: MIT */
/*
 * atomic - shared values whose every operation says its memory order
 *
 * klock's locks touch memory that several CPUs write by nothing else. An order
 * is part of the operation's name and has no default:
 *
 *	klock::atomic<klock::u32> ready{0};
 *	ready.store_release(1);
 *	ready.await_eq_acquire(1);
 *
 * The port on the include path (arch/CONTRACT.md) supplies the operations: a
 * machine instruction, an event in the model checker, a cost in the coherence
 * simulator. The code above them does not change.
 *
 * Context: any (thread, interrupt, NMI); the await operations wait and belong
 * only where the awaited CPU is sure to go on.
 */
#pragma once

#include <klock/arch/atomic_ops.hpp>
#include <klock/arch/relax.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * The place that an operation is called from, for the checker's reports. Each
 * operation takes it by a defaulted argument; it is empty in a kernel.
 */
using arch::site;

/* A port may leave these out; a declaration of its own hides the one here. */
namespace arch_defaults {
using flag_word = u8;
}
namespace arch {
using namespace arch_defaults;
}

/*
 * The type of a lock's flags: a byte; on a CPU whose atomic instructions change
 * only words, a u32. For locks that have the same size with both.
 */
using arch::flag_word;

/*
 * atomic<T> - one shared value
 *
 * T is a bool, an enum, a signed or unsigned integer, or a pointer; no wider
 * than a pointer, which is what every CPU reads and writes whole. Any other T
 * is refused. It cannot be copied or moved; constinit works.
 *
 * A wait is an operation of its own. So a port can wait as its CPU does it
 * best, a checker sees a wait and no endless loop, and a simulator sees that
 * the waiter keeps its copy of the line.
 */
template <typename T>
struct atomic {
	constexpr atomic() : at(T{}) {}
	constexpr explicit atomic(T initial_value) : at(initial_value) {}
	atomic(const atomic &) = delete;
	atomic &operator=(const atomic &) = delete;

	/* -- Loads and stores -- */

	/* Returns the value, by one access of T's own width. */
	T load_relaxed(site s = caller_site<site>()) const
	{
		return arch::load<order::relaxed>(at, s);
	}

	T load_acquire(site s = caller_site<site>()) const
	{
		return arch::load<order::acquire>(at, s);
	}

	T load_seq_cst(site s = caller_site<site>()) const
	{
		return arch::load<order::seq_cst>(at, s);
	}

	/* Stores v, by one access of T's own width. */
	void store_relaxed(T v, site s = caller_site<site>())
	{
		arch::store<order::relaxed>(at, v, s);
	}

	void store_release(T v, site s = caller_site<site>())
	{
		arch::store<order::release>(at, v, s);
	}

	void store_seq_cst(T v, site s = caller_site<site>())
	{
		arch::store<order::seq_cst>(at, v, s);
	}

	/* -- Read-modify-write: each returns the value it found -- */

	T exchange_relaxed(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::relaxed>(at, v, s);
	}

	T exchange_acquire(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::acquire>(at, v, s);
	}

	T exchange_release(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::release>(at, v, s);
	}

	T exchange_acq_rel(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::acq_rel>(at, v, s);
	}

	T exchange_seq_cst(T v, site s = caller_site<site>())
	{
		return arch::exchange<order::seq_cst>(at, v, s);
	}

	/* Adds. For integers alone; modulo 2^bits, signed ones too. */
	T fetch_add_relaxed(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::relaxed>(at, v, s);
	}

	T fetch_add_acquire(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::acquire>(at, v, s);
	}

	T fetch_add_release(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::release>(at, v, s);
	}

	T fetch_add_acq_rel(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::acq_rel>(at, v, s);
	}

	T fetch_add_seq_cst(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_add<order::seq_cst>(at, v, s);
	}

	/* Subtracts; as fetch_add_relaxed(). */
	T fetch_sub_relaxed(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::relaxed>(at, v, s);
	}

	T fetch_sub_acquire(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::acquire>(at, v, s);
	}

	T fetch_sub_release(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::release>(at, v, s);
	}

	T fetch_sub_acq_rel(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::acq_rel>(at, v, s);
	}

	T fetch_sub_seq_cst(T v, site s = caller_site<site>())
		requires integer<T>
	{
		return arch::fetch_sub<order::seq_cst>(at, v, s);
	}

	/* Sets bits. For integers, enums and bool. */
	T fetch_or_relaxed(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::relaxed>(at, v, s);
	}

	T fetch_or_acquire(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::acquire>(at, v, s);
	}

	T fetch_or_release(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::release>(at, v, s);
	}

	T fetch_or_acq_rel(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::acq_rel>(at, v, s);
	}

	T fetch_or_seq_cst(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_or<order::seq_cst>(at, v, s);
	}

	/* As fetch_or_relaxed(), by a bitwise and. */
	T fetch_and_relaxed(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::relaxed>(at, v, s);
	}

	T fetch_and_acquire(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::acquire>(at, v, s);
	}

	T fetch_and_release(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::release>(at, v, s);
	}

	T fetch_and_acq_rel(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::acq_rel>(at, v, s);
	}

	T fetch_and_seq_cst(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_and<order::seq_cst>(at, v, s);
	}

	/* As fetch_or_relaxed(), by a bitwise exclusive or. */
	T fetch_xor_relaxed(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::relaxed>(at, v, s);
	}

	T fetch_xor_acquire(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::acquire>(at, v, s);
	}

	T fetch_xor_release(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::release>(at, v, s);
	}

	T fetch_xor_acq_rel(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::acq_rel>(at, v, s);
	}

	T fetch_xor_seq_cst(T v, site s = caller_site<site>())
		requires bit_set<T>
	{
		return arch::fetch_xor<order::seq_cst>(at, v, s);
	}

	/*
	 * Stores `desired` if the value is `expected`; true if it was. Never
	 * fails spuriously. If it fails, it sets `expected` to the value found,
	 * and that read has the order of the operation's name without its
	 * release.
	 */
	[[nodiscard]] bool
	compare_exchange_relaxed(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::relaxed>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_acquire(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::acquire>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_release(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::release>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_acq_rel(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::acq_rel>(at, expected,
							      desired, s);
	}

	[[nodiscard]] bool
	compare_exchange_seq_cst(T &expected, T desired,
				 site s = caller_site<site>())
	{
		return arch::compare_exchange<order::seq_cst>(at, expected,
							      desired, s);
	}

	/* -- Waiting: each returns the value that ended the wait -- */

	/* Waits until done(value) holds. */
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

	/* Waits until the value is v; returns it. */
	T await_eq_relaxed(T v, site s = caller_site<site>()) const
	{
		return await_relaxed([v](T now) { return now == v; }, s);
	}

	T await_eq_acquire(T v, site s = caller_site<site>()) const
	{
		return await_acquire([v](T now) { return now == v; }, s);
	}

	/* Waits until the value is not v; returns it. */
	T await_ne_relaxed(T v, site s = caller_site<site>()) const
	{
		return await_relaxed([v](T now) { return now != v; }, s);
	}

	T await_ne_acquire(T v, site s = caller_site<site>()) const
	{
		return await_acquire([v](T now) { return now != v; }, s);
	}

	/*
	 * Waits until done(value) holds, with pauses: after a read that does
	 * not end the wait, pace(value) spin iterations pass before the next.
	 * pace may keep state: exponential back-off.
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
	 * Waits until patience(value) spin iterations in a row have found the
	 * same value: 0 ends the wait at the first look, `endless` never. Each
	 * change of the value begins the count anew. Returns the value that was
	 * last seen, which tells the caller whether the awaited value came or
	 * patience ran out. patience keeps no state: it returns the same number
	 * for the same value.
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
	 * Waits until done(value) holds, or the CPU's clock, cycles(), shows
	 * the deadline; it looks at least once. Returns the value that was last
	 * seen, which tells the caller how the wait ended. Needs a clock:
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
	 * Exchanges v with the value again and again, until done(the value
	 * found) holds. An exchange that does not end the wait must change
	 * nothing: v is the value that a waiter finds anyway (test-and-set).
	 */
	template <typename Predicate>
	T await_exchange_acquire(T v, Predicate done,
				 site s = caller_site<site>())
	{
		return arch::await_exchange<order::acquire>(at, v, done, s);
	}

	/*
	 * Waits until done(this value) or other_done(the other's value) holds.
	 * Reads them in that order, again and again.
	 */
	template <typename Predicate, typename U, typename OtherPredicate>
	void await_either_acquire(Predicate done, const atomic<U> &other,
				  OtherPredicate other_done,
				  site s = caller_site<site>()) const
	{
		arch::await_either<order::acquire>(at, done, other.at,
						   other_done, s);
	}

      private:
	template <typename U>
	friend struct atomic;

	arch::cell<T> at;

	/* The last member, so that a wrong T gives this one error. */
	static_assert(atomic_value<T>,
		      "klock::atomic<T>: T is a bool, an enum, an integer or "
		      "a pointer, and no wider than a pointer");
};

/* Orders this CPU's own accesses; needed only by locks without RMW. */
inline void fence_seq_cst(site s = caller_site<site>())
{
	arch::fence<order::seq_cst>(s);
}

inline void fence_acquire(site s = caller_site<site>())
{
	arch::fence<order::acquire>(s);
}

inline void fence_release(site s = caller_site<site>())
{
	arch::fence<order::release>(s);
}

inline void fence_acq_rel(site s = caller_site<site>())
{
	arch::fence<order::acq_rel>(s);
}

/*
 * Waits until done() holds; calls serve(), and a spin iteration, after each
 * look that does not end the wait. It is a loop on every port. A wait that
 * sleeps until its line is written (AArch64) would sleep through the events
 * that serve() must answer.
 */
template <typename Done, serves Serve>
void await_serving(Done done, Serve &serve)
{
	while (!done()) {
		serve();
		arch::cpu_relax();
	}
}

/*
 * atomic_fields<T, N> - N counters, reached one by one and as one word
 *
 * T is u8, u16 or u32, N is 2, 3 or 4, and all together have no more than 8
 * bytes; for three fields the word has room for four. An operation on a field
 * is a narrow access, which leaves the others alone. The whole is changed by
 * one instruction: a compare-and-swap if a decision rests on several fields
 * (ABA), an add if several change at once. I: a field's number, or its half.
 */
template <typename T, usize N, typename Cell = arch::field_cell<T, N>>
struct atomic_fields {
	static_assert(N >= 2 && N <= 4, "two, three or four fields");
	static_assert(detail::fields_in_word<N> * sizeof(T) <= 8,
		      "over 8 bytes: no CPU changes them at once");

	constexpr atomic_fields() : at(fields<T, N>{}) {}
	constexpr explicit atomic_fields(fields<T, N> v) : at(v) {}
	atomic_fields(const atomic_fields &) = delete;
	atomic_fields &operator=(const atomic_fields &) = delete;

	template <usize I>
		requires(I < N)
	T load_relaxed(field<I>, site s = caller_site<site>()) const
	{
		return arch::load_field<I, order::relaxed>(at, s);
	}

	template <usize I>
		requires(I < N)
	T load_acquire(field<I>, site s = caller_site<site>()) const
	{
		return arch::load_field<I, order::acquire>(at, s);
	}

	template <usize I>
		requires(I < N)
	void store_relaxed(field<I>, T v, site s = caller_site<site>())
	{
		arch::store_field<I, order::relaxed>(at, v, s);
	}

	template <usize I>
		requires(I < N)
	void store_release(field<I>, T v, site s = caller_site<site>())
	{
		arch::store_field<I, order::release>(at, v, s);
	}

	/* Exchanges one field alone; returns the value that it had. */
	template <usize I>
		requires(I < N)
	T exchange_acq_rel(field<I>, T v, site s = caller_site<site>())
	{
		return arch::exchange_field<I, order::acq_rel>(at, v, s);
	}

	/* Adds to one field alone, modulo its own width; returns the value that
	 * it had */
	template <usize I>
		requires(I < N)
	T fetch_add_relaxed(field<I>, T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::relaxed>(at, v, s);
	}

	template <usize I>
		requires(I < N)
	T fetch_add_acquire(field<I>, T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::acquire>(at, v, s);
	}

	template <usize I>
		requires(I < N)
	T fetch_add_release(field<I>, T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::release>(at, v, s);
	}

	template <usize I>
		requires(I < N)
	T fetch_add_acq_rel(field<I>, T v, site s = caller_site<site>())
	{
		return arch::fetch_add_field<I, order::acq_rel>(at, v, s);
	}

	/* Waits as atomic<T> does, on one field. */
	template <usize I, typename Predicate>
		requires(I < N)
	T await_acquire(field<I>, Predicate done,
			site s = caller_site<site>()) const
	{
		return arch::await_field<I, order::acquire>(at, done, s);
	}

	template <usize I>
		requires(I < N)
	T await_eq_relaxed(field<I>, T v, site s = caller_site<site>()) const
	{
		return arch::await_field<I, order::relaxed>(
			at, [v](T now) { return now == v; }, s);
	}

	template <usize I>
		requires(I < N)
	T await_eq_acquire(field<I>, T v, site s = caller_site<site>()) const
	{
		return arch::await_field<I, order::acquire>(
			at, [v](T now) { return now == v; }, s);
	}

	/* Compares and swaps all fields at once: true, and `desired` is stored,
	 * if all were as expected. */
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
	 * Advances each field that differs from `from` to `to`, all at once;
	 * changes that others make to the other fields meanwhile are kept. The
	 * caller must know that no field leaves its range: the field holds
	 * `from` and nobody else changes it, or `to` is less and `from` is a
	 * part of the field's value.
	 */
	void advance_release(fields<T, N> from, fields<T, N> to,
			     site s = caller_site<site>())
	{
		arch::advance_fields<order::release>(at, from, to, s);
	}

      protected:
	Cell at;
};

/*
 * Four fields of u8 or u16. An operation on one of the first two accesses both,
 * so all accesses to these bytes have one size: on some CPUs an access that
 * follows one of another size waits. An add to the upper one, 1, and an advance
 * of these two are one instruction on both. The others are accessed alone.
 */
template <typename T>
using paired_fields = atomic_fields<T, 4, arch::paired_cell<T>>;

/*
 * atomic_pair<T> - two counters, with the names first and second: klock::half
 *
 * A compare-and-swap of twice the width decides on both counters at once: no
 * other CPU can change one of them in between (ABA).
 */
template <typename T>
struct atomic_pair : atomic_fields<T, 2> {
	constexpr atomic_pair() = default;
	constexpr explicit atomic_pair(pair<T> v) : atomic_fields<T, 2>(both(v))
	{
	}

	/* Exchanges v with the value until done(the value found) holds. */
	template <usize I, typename Predicate>
		requires(I < 2)
	T await_exchange_acquire(field<I>, T v, Predicate done,
				 site s = caller_site<site>())
	{
		return arch::await_exchange_field<I, order::acquire>(at, v,
								     done, s);
	}

	template <usize I, typename Predicate, typename Pace>
		requires(I < 2)
	T await_paced_acquire(field<I>, Predicate done, Pace pace,
			      site s = caller_site<site>()) const
	{
		return arch::await_field_paced<I, order::acquire>(at, done,
								  pace, s);
	}

	/* Compares and swaps both halves at once: true, and `desired` is
	 * stored, if both were as expected. */
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
	using atomic_fields<T, 2>::at;
	static constexpr fields<T, 2> both(pair<T> v)
	{
		return {{v.first, v.second}};
	}
};

/*
 * -- Counters that wrap ------------------------------------------------------
 *
 * u8 - u8 is an int, and less than 0 if the counter has wrapped between the
 * two: these functions cast it back to the counter's type. They also know how
 * many bits the counter has at the moment: the model checker can let counters
 * wrap at a few bits (lib/model, counter_bits), and sums and differences must
 * then wrap there as well. A kernel's counter has the bits of its type, and the
 * functions cost nothing.
 */

/* The steps up from one value to the other: never negative. */
template <counter Counter>
constexpr Counter distance(Counter from, Counter to)
{
	return arch::wrapped(static_cast<Counter>(to - from));
}

/* The value that many steps up. */
template <counter Counter>
constexpr Counter advanced(Counter of, Counter steps)
{
	return arch::wrapped(static_cast<Counter>(of + steps));
}

/* The value after this one. */
template <counter Counter>
constexpr Counter successor(Counter of)
{
	return advanced(of, Counter{1});
}

/* -- Two counts in one counter: an upper half and a lower half of its bits --
 */

/*
 * One, in the upper half. Not for the value of a constant, which cannot know
 * how many bits a checker's counter has.
 */
template <counter Counter>
constexpr Counter upper_one()
{
	constexpr Counter all = static_cast<Counter>(~Counter{});
	u64 one = u64{1} << 4 * sizeof(Counter);

	/* In a checker, if counters have few bits. */
	if (arch::wrapped(all) != all)
		for (one = 1; one * one <= arch::wrapped(all);)
			one *= 2;
	return static_cast<Counter>(one);
}

/* Whether the lower halves of two are the same. */
template <counter Counter>
constexpr bool same_lower(Counter a, Counter b)
{
	return ((a ^ b) & (upper_one<Counter>() - 1)) == 0;
}

/* The narrowest counter for so many contexts at once. */
namespace detail {
template <u64 Contexts>
constexpr auto counter_for()
{
	static_assert(Contexts > 0, "a lock needs a contender");
	static_assert(Contexts <= u64{1} << 32, "over 2^32 contenders");
	if constexpr (Contexts <= u64{1} << 8)
		return u8{};
	else if constexpr (Contexts <= u64{1} << 16)
		return u16{};
	else
		return u32{};
}
} // namespace detail

} // namespace klock
