/* SPDX-License-Identifier: MIT */
/*
 * builtin_ops - the ready-made half of a port: GCC's and clang's builtins
 *
 * A port whose memory operations are the compiler's __atomic builtins includes
 * this from its <klock/arch/atomic_ops.hpp>, and needs nothing else there.
 * arch/CONTRACT.md says what each name must do.
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/arch/relax.hpp>
#include <klock/types.hpp>

namespace klock::arch {

/* Passes an order to the builtins unchanged. */
static_assert(static_cast<int>(order::relaxed) == __ATOMIC_RELAXED &&
	      static_cast<int>(order::acquire) == __ATOMIC_ACQUIRE &&
	      static_cast<int>(order::release) == __ATOMIC_RELEASE &&
	      static_cast<int>(order::acq_rel) == __ATOMIC_ACQ_REL &&
	      static_cast<int>(order::seq_cst) == __ATOMIC_SEQ_CST);

/* A call site: empty here, file and line in the hooked port. */
struct site {
	constexpr site(const char *, int) {}
};

/* The storage of one shared value. */
template <typename T>
struct cell {
	stored_as<T> value;
	constexpr explicit cell(T initial_value)
	    : value(to_stored(initial_value))
	{
	}
};

template <order O, typename T>
inline T load(const cell<T> &at, site)
{
	return from_stored<T>(__atomic_load_n(&at.value, static_cast<int>(O)));
}

template <order O, typename T>
inline void store(cell<T> &at, T v, site)
{
	__atomic_store_n(&at.value, to_stored(v), static_cast<int>(O));
}

template <order O, typename T>
inline T exchange(cell<T> &at, T v, site)
{
	return from_stored<T>(__atomic_exchange_n(&at.value, to_stored(v),
						  static_cast<int>(O)));
}

template <order O, typename T>
inline bool compare_exchange(cell<T> &at, T &expected, T desired, site)
{
	stored_as<T> found = to_stored(expected);
	const bool swapped = __atomic_compare_exchange_n(
		&at.value, &found, to_stored(desired), false,
		static_cast<int>(O), static_cast<int>(without_store(O)));

	expected = from_stored<T>(found);
	return swapped;
}

template <order O, typename T>
inline T fetch_add(cell<T> &at, T v, site)
{
	return __atomic_fetch_add(&at.value, v, static_cast<int>(O));
}

template <order O, typename T>
inline T fetch_sub(cell<T> &at, T v, site)
{
	return __atomic_fetch_sub(&at.value, v, static_cast<int>(O));
}

/* A bool's byte is 0 or 1; the compilers have no bitwise builtin for it. */
template <typename S>
inline S *bits_of(S &stored)
{
	return &stored;
}

inline unsigned char *bits_of(bool &stored)
{
	return reinterpret_cast<unsigned char *>(&stored);
}

template <order O, typename T>
inline T fetch_or(cell<T> &at, T v, site)
{
	return from_stored<T>(__atomic_fetch_or(bits_of(at.value), to_stored(v),
						static_cast<int>(O)));
}

template <order O, typename T>
inline T fetch_and(cell<T> &at, T v, site)
{
	return from_stored<T>(__atomic_fetch_and(
		bits_of(at.value), to_stored(v), static_cast<int>(O)));
}

template <order O, typename T>
inline T fetch_xor(cell<T> &at, T v, site)
{
	return from_stored<T>(__atomic_fetch_xor(
		bits_of(at.value), to_stored(v), static_cast<int>(O)));
}

template <order O>
inline void fence(site)
{
	__atomic_thread_fence(static_cast<int>(O));
}

/* -- Waiting ------------------------------------------------------------- */

/*
 * Whether a port has sleep_until<O>(at, done), which sleeps between two looks
 * until the value is written, and returns the first value for which done()
 * holds.
 */
template <typename T>
inline constexpr bool has_sleep_until = false;

template <order O, typename T, typename Predicate>
inline T await(const cell<T> &at, Predicate done, site s)
{
	for (;;) {
		const T v = load<O>(at, s);
		if (done(v))
			return v;
		if constexpr (has_sleep_until<T>)
			return sleep_until<O>(at, done);
		else
			cpu_relax();
	}
}

template <order O, typename T, typename Predicate, typename Pace>
inline T await_paced(const cell<T> &at, Predicate done, Pace pace, site s)
{
	for (;;) {
		const T v = load<O>(at, s);
		if (done(v))
			return v;

		const u32 spins = pace(v);
		for (u32 i = 0; i < spins; i++)
			cpu_relax();
	}
}

/* Returns the next value. It sleeps only if patience is endless: otherwise the
 * wait must end, though no write may come that would wake it. */
template <order O, typename T>
inline T look_again(const cell<T> &at, [[maybe_unused]] T last,
		    [[maybe_unused]] bool endlessly, site s)
{
	if constexpr (has_sleep_until<T>)
		if (endlessly)
			return sleep_until<O>(
				at, [last](T v) { return v != last; });
	cpu_relax();
	return load<O>(at, s);
}

template <order O, typename T, typename Patience>
inline T await_patient(const cell<T> &at, Patience patience, site s)
{
	T last = load<O>(at, s);

	for (u32 repeats = 0;;) {
		const u32 most = patience(last);
		if (most != endless && repeats >= most)
			return last;
		const T v = look_again<O>(at, last, most == endless, s);
		repeats = v == last ? repeats + 1 : 0;
		last = v;
	}
}

template <order O, typename T, typename Predicate>
inline T await_until(const cell<T> &at, Predicate done, u64 deadline, site s)
{
	for (;;) {
		const T v = load<O>(at, s);
		if (done(v) || cycles() >= deadline)
			return v;
		cpu_relax();
	}
}

template <order O, typename T, typename Predicate>
inline T await_exchange(cell<T> &at, T desired, Predicate done, site s)
{
	for (;;) {
		const T v = exchange<O>(at, desired, s);
		if (done(v))
			return v;
		if constexpr (has_sleep_until<T>)
			(void)sleep_until<order::relaxed>(at, done);
		else
			cpu_relax();
	}
}

template <order O, typename T, typename U, typename PredicateA,
	  typename PredicateB>
inline void await_either(const cell<T> &a, PredicateA a_done, const cell<U> &b,
			 PredicateB b_done, site s)
{
	for (;;) {
		if (a_done(load<O>(a, s)) || b_done(load<O>(b, s)))
			return;
		cpu_relax();
	}
}

/* -- Several values in one word ------------------------------------------ */

template <typename T, usize N>
struct alignas(detail::fields_in_word<N> * sizeof(T)) field_cell {
	cell<T> at[detail::fields_in_word<N>];

	constexpr explicit field_cell(fields<T, N> v)
		requires(N == 2)
	    : at{cell<T>(v.at[0]), cell<T>(v.at[1])}
	{
	}
	constexpr explicit field_cell(fields<T, N> v)
		requires(N == 3 || N == 4)
	    : at{cell<T>(v.at[0]), cell<T>(v.at[1]), cell<T>(v.at[2]),
		 cell<T>(N == 4 ? v.at[N - 1] : T{})}
	{
	}
};

/* All fields as one integer. */
template <typename T, usize N>
constexpr auto word_from(fields<T, N> v)
{
	using word = word_of<detail::fields_in_word<N> * sizeof(T)>;

	if constexpr (N == 3)
		return __builtin_bit_cast(
			word, fields<T, 4>{v.at[0], v.at[1], v.at[2], T{}});
	else
		return __builtin_bit_cast(word, v);
}

template <usize I, order O, typename T, usize N>
inline T load_field(const field_cell<T, N> &at, site s)
{
	return load<O>(at.at[I], s);
}

template <usize I, order O, typename T, usize N>
inline void store_field(field_cell<T, N> &at, T v, site s)
{
	store<O>(at.at[I], v, s);
}

template <usize I, order O, typename T, usize N>
inline T exchange_field(field_cell<T, N> &at, T v, site s)
{
	return exchange<O>(at.at[I], v, s);
}

template <usize I, order O, typename T, usize N>
inline T fetch_add_field(field_cell<T, N> &at, T v, site s)
{
	return fetch_add<O>(at.at[I], v, s);
}

template <usize I, order O, typename T, usize N, typename Predicate>
inline T await_field(const field_cell<T, N> &at, Predicate done, site s)
{
	return await<O>(at.at[I], done, s);
}

template <usize I, order O, typename T, usize N, typename Predicate,
	  typename Pace>
inline T await_field_paced(const field_cell<T, N> &at, Predicate done,
			   Pace pace, site s)
{
	return await_paced<O>(at.at[I], done, pace, s);
}

template <usize I, order O, typename T, usize N, typename Predicate>
inline T await_exchange_field(field_cell<T, N> &at, T desired, Predicate done,
			      site s)
{
	return await_exchange<O>(at.at[I], desired, done, s);
}

template <order O, typename T, usize N>
inline bool compare_exchange_fields(field_cell<T, N> &at, fields<T, N> expected,
				    fields<T, N> desired, site)
{
	/*
	 * may_alias: the word and its fields are two views of one place;
	 * aligned: a u64 by itself is not, on 32-bit x86.
	 */
	using word [[gnu::may_alias, gnu::aligned(sizeof(at))]] =
		word_of<sizeof(at)>;
	word old = word_from(expected);

	return __atomic_compare_exchange_n(
		reinterpret_cast<word *>(&at), &old, word_from(desired), false,
		static_cast<int>(O), static_cast<int>(without_store(O)));
}

template <order O, typename T, usize N>
inline void advance_fields(field_cell<T, N> &at, fields<T, N> from,
			   fields<T, N> to, site)
{
	using word [[gnu::may_alias, gnu::aligned(sizeof(at))]] =
		word_of<sizeof(at)>;
	const word by = static_cast<word>(word_from(to) - word_from(from));

	(void)__atomic_fetch_add(reinterpret_cast<word *>(&at), by,
				 static_cast<int>(O));
}

/* -- Four fields, the first two accessed together -------------------------- */

/*
 * An add to the upper of the first two is an add to both, whose carry leaves
 * the word; a load of one is a load of both. So all accesses to these bytes
 * have one size. The operations that are not here are field_cell's, and
 * correct, too.
 */
template <typename T>
struct paired_cell : field_cell<T, 4> {
	using field_cell<T, 4>::field_cell;
};

/* Whether this port does so. */
template <typename T>
inline constexpr bool reaches_both = true;

template <typename T>
using both_of = word_of<2 * sizeof(T)>;

/* A field of both: the lower is at the lower address. */
template <usize I, typename T>
constexpr T field_of(both_of<T> both)
{
	return static_cast<T>(both >> 8 * I * sizeof(T));
}

template <typename T>
inline cell<both_of<T>> &both_in(paired_cell<T> &at)
{
	return reinterpret_cast<cell<both_of<T>> &>(at);
}
template <typename T>
inline const cell<both_of<T>> &both_in(const paired_cell<T> &at)
{
	return reinterpret_cast<const cell<both_of<T>> &>(at);
}

template <usize I, order O, typename T>
	requires(I < 2 && reaches_both<T>)
inline T load_field(const paired_cell<T> &at, site s)
{
	return field_of<I, T>(load<O>(both_in(at), s));
}

template <usize I, order O, typename T>
	requires(I == 1 && reaches_both<T>)
inline T fetch_add_field(paired_cell<T> &at, T v, site s)
{
	const both_of<T> by =
		static_cast<both_of<T>>(both_of<T>{v} << 8 * sizeof(T));

	return field_of<1, T>(fetch_add<O>(both_in(at), by, s));
}

template <usize I, order O, typename T, typename Predicate>
	requires(I < 2 && reaches_both<T>)
inline T await_field(const paired_cell<T> &at, Predicate done, site s)
{
	return field_of<I, T>(await<O>(
		both_in(at),
		[done](both_of<T> now) { return done(field_of<I, T>(now)); },
		s));
}

/* Adds to the two fields of the pair only, if the other two do not change. */
template <order O, typename T>
	requires reaches_both<T>
inline void advance_fields(paired_cell<T> &at, fields<T, 4> from,
			   fields<T, 4> to, site s)
{
	const auto by = static_cast<both_of<T>>(
		word_from(fields<T, 2>{{to.at[0], to.at[1]}}) -
		word_from(fields<T, 2>{{from.at[0], from.at[1]}}));

	if (from.at[2] == to.at[2] && from.at[3] == to.at[3])
		(void)fetch_add<O>(both_in(at), by, s);
	else
		advance_fields<O>(static_cast<field_cell<T, 4> &>(at), from, to,
				  s);
}

/* -- Counters that wrap --------------------------------------------------- */

/* A counter wraps at the width of its type. */
template <typename T>
constexpr T wrapped(T v)
{
	return v;
}

/* -- Data of one CPU alone, or protected by a lock ----------------------- */

template <typename T>
struct plain_cell {
	T value;
	constexpr explicit plain_cell(T initial_value) : value(initial_value) {}
};

template <typename T>
inline T load_plain(const plain_cell<T> &at, site)
{
	return at.value;
}

template <typename T>
inline void store_plain(plain_cell<T> &at, T v, site)
{
	at.value = v;
}

} // namespace klock::arch
