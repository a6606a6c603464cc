/* SPDX-License-Identifier: MIT */
/*
 * atomic_ops - memory operations as calls to an engine
 *
 * What each name must do is said once, in arch/CONTRACT.md. Objects tell the
 * engine of their birth and death, so that a use after death is found. An
 * object that was made at compile time was never born: the engine meets it at
 * its first use.
 *
 * Under the engine a location's value is the engine's; the memory holds the
 * value that the location starts with, and receives the last one when the run
 * is over.
 */
#pragma once

#include <klock/arch/cpu.hpp>
#include <klock/arch/engine.hpp>
#include <klock/types.hpp>

namespace klock::arch {

namespace hooked {

/* A value as the engine's word, and back: its own bits, zeros above them. */
template <typename T>
inline u64 to_word(T v)
{
	return __builtin_bit_cast(word_of<sizeof(T)>, v);
}

template <typename T>
inline T from_word(u64 v)
{
	using bits = word_of<sizeof(T)>;

	if constexpr (sizeof(T) == sizeof(u64))
		return __builtin_bit_cast(T, v);
	else
		return __builtin_bit_cast(T, static_cast<bits>(v));
}

template <typename T>
constexpr holds what_it_holds()
{
	if constexpr (!integer<T>)
		return holds::other;
	else
		return static_cast<T>(-1) < T{1} ? holds::signed_number
						 : holds::counter;
}

/* The predicate or the pace of a wait over T, seen over words. */
template <typename T, typename Predicate>
inline test test_of(Predicate &done)
{
	return {[](void *what, u64 v) {
			return static_cast<bool>((*static_cast<Predicate *>(
				what))(from_word<T>(v)));
		},
		&done};
}

template <typename T, typename Pace>
inline pace pace_of(Pace &turns)
{
	return {[](void *what, u64 v) {
			return static_cast<u32>(
				(*static_cast<Pace *>(what))(from_word<T>(v)));
		},
		&turns};
}

/* A wait with nobody else to end it: outside a run there is one thread. */
[[noreturn]] inline void waits_for_ever(site s)
{
	if (leave_endless_wait)
		leave_endless_wait(s);
	__builtin_trap();
}

} // namespace hooked

/* The storage of one shared value. */
template <typename T>
struct cell {
	T value;

	constexpr explicit cell(T v) : value(v)
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->born(this, sizeof(*this));
	}
	constexpr ~cell()
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->dead(this, sizeof(*this));
	}
	cell(const cell &) = delete;
	cell &operator=(const cell &) = delete;

	hooked::window whole() const
	{
		return {this,	       sizeof(T), 0,
			8 * sizeof(T), 0,	  hooked::what_it_holds<T>()};
	}
};

template <order O, typename T>
inline T load(const cell<T> &at, site s)
{
	if (!hooked::running)
		return at.value;
	return hooked::from_word<T>(hooked::running->load(at.whole(), O, s));
}

template <order O, typename T>
inline void store(cell<T> &at, T v, site s)
{
	if (!hooked::running)
		at.value = v;
	else
		hooked::running->store(at.whole(), hooked::to_word(v), O, s);
}

namespace hooked {

template <update How, order O, typename T>
inline T read_modify_write(cell<T> &at, T operand, site s)
{
	if (running)
		return from_word<T>(
			running->rmw(at.whole(), How, to_word(operand), O, s));

	const T found = at.value;
	at.value = from_word<T>(updated(How, to_word(found), to_word(operand)));
	return found;
}

} // namespace hooked

template <order O, typename T>
inline T exchange(cell<T> &at, T v, site s)
{
	return hooked::read_modify_write<hooked::update::exchange, O>(at, v, s);
}

template <order O, typename T>
inline T fetch_add(cell<T> &at, T v, site s)
{
	return hooked::read_modify_write<hooked::update::add, O>(at, v, s);
}

template <order O, typename T>
inline T fetch_sub(cell<T> &at, T v, site s)
{
	return hooked::read_modify_write<hooked::update::subtract, O>(at, v, s);
}

template <order O, typename T>
inline T fetch_or(cell<T> &at, T v, site s)
{
	return hooked::read_modify_write<hooked::update::bit_or, O>(at, v, s);
}

template <order O, typename T>
inline T fetch_and(cell<T> &at, T v, site s)
{
	return hooked::read_modify_write<hooked::update::bit_and, O>(at, v, s);
}

template <order O, typename T>
inline T fetch_xor(cell<T> &at, T v, site s)
{
	return hooked::read_modify_write<hooked::update::bit_xor, O>(at, v, s);
}

template <order O, typename T>
inline bool compare_exchange(cell<T> &at, T &expected, T desired, site s)
{
	if (hooked::running) {
		u64 found = hooked::to_word(expected);
		const bool swapped = hooked::running->compare_exchange(
			at.whole(), found, hooked::to_word(desired), O, s);
		expected = hooked::from_word<T>(found);
		return swapped;
	}
	if (at.value == expected) {
		at.value = desired;
		return true;
	}
	expected = at.value;
	return false;
}

template <order O>
inline void fence(site s)
{
	if (hooked::running)
		hooked::running->fence(O, s);
}

/* -- Waiting ------------------------------------------------------------- */

template <order O, typename T, typename Predicate>
inline T await(const cell<T> &at, Predicate done, site s)
{
	if (hooked::running)
		return hooked::from_word<T>(hooked::running->await(
			at.whole(), hooked::test_of<T>(done), {}, O, s));
	if (!done(at.value))
		hooked::waits_for_ever(s);
	return at.value;
}

template <order O, typename T, typename Predicate, typename Pace>
inline T await_paced(const cell<T> &at, Predicate done, Pace pace, site s)
{
	if (hooked::running)
		return hooked::from_word<T>(hooked::running->await(
			at.whole(), hooked::test_of<T>(done),
			hooked::pace_of<T>(pace), O, s));
	return await<O>(at, done, s);
}

/* Outside a run nobody else changes the value: patience runs out, or never. */
template <order O, typename T, typename Patience>
inline T await_patient(const cell<T> &at, Patience patience, site s)
{
	if (hooked::running)
		return hooked::from_word<T>(hooked::running->await_patient(
			at.whole(), hooked::pace_of<T>(patience), O, s));
	if (patience(at.value) == endless)
		hooked::waits_for_ever(s);
	return at.value;
}

/* Outside a run nobody else changes the value: the deadline passes. */
template <order O, typename T, typename Predicate>
inline T await_until(const cell<T> &at, Predicate done, u64 deadline, site s)
{
	if (hooked::running)
		return hooked::from_word<T>(hooked::running->await_until(
			at.whole(), hooked::test_of<T>(done), deadline, O, s));
	return at.value;
}

template <order O, typename T, typename Predicate>
inline T await_exchange(cell<T> &at, T desired, Predicate done, site s)
{
	if (hooked::running)
		return hooked::from_word<T>(hooked::running->await_exchange(
			at.whole(), hooked::to_word(desired),
			hooked::test_of<T>(done), O, s));

	const T found = at.value;
	if (!done(found))
		hooked::waits_for_ever(s);
	at.value = desired;
	return found;
}

template <order O, typename T, typename U, typename PredicateA,
	  typename PredicateB>
inline void await_either(const cell<T> &a, PredicateA a_done, const cell<U> &b,
			 PredicateB b_done, site s)
{
	if (hooked::running)
		hooked::running->await_either(
			a.whole(), hooked::test_of<T>(a_done), b.whole(),
			hooked::test_of<U>(b_done), O, s);
	else if (!a_done(a.value) && !b_done(b.value))
		hooked::waits_for_ever(s);
}

/* -- Counters that wrap --------------------------------------------------- */

/*
 * No constant: how narrow a counter is, is known when the program runs. A lock
 * that computes one at compile time would be another lock than the one that is
 * checked; so it is refused.
 */
template <typename T>
T wrapped(T v)
{
	return static_cast<T>(v & hooked::counter_mask);
}

/* -- Data of one CPU alone, or protected by a lock ------------------------ */

template <typename T>
struct plain_cell {
	T value;

	constexpr explicit plain_cell(T v) : value(v)
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->born(this, sizeof(*this));
	}
	constexpr ~plain_cell()
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->dead(this, sizeof(*this));
	}
	plain_cell(const plain_cell &) = delete;
	plain_cell &operator=(const plain_cell &) = delete;
};

template <typename T>
inline T load_plain(const plain_cell<T> &at, site s)
{
	if (hooked::running)
		hooked::running->read_plain(&at, sizeof(T), s);
	return at.value;
}

template <typename T>
inline void store_plain(plain_cell<T> &at, T v, site s)
{
	if (hooked::running)
		hooked::running->write_plain(&at, &v, sizeof(T), s);
	at.value = v;
}

/* -- Several values in one word -- */

/*
 * One location; an operation on a field looks at its bits. P: so many of the
 * first fields are accessed together, and are one location where others are
 * taken apart (options.split_pairs).
 */
template <typename T, usize N, usize P = 0>
struct alignas(detail::fields_in_word<N> * sizeof(T)) field_cell {
	T at[detail::fields_in_word<N>];

	constexpr explicit field_cell(fields<T, N> v) : at{}
	{
		for (usize i = 0; i < N; i++)
			at[i] = v.at[i];
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->born(this, sizeof(*this));
	}
	constexpr ~field_cell()
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->dead(this, sizeof(*this));
	}
	field_cell(const field_cell &) = delete;
	field_cell &operator=(const field_cell &) = delete;

	hooked::window whole() const
	{
		return {this,
			sizeof(*this),
			0,
			8 * sizeof(*this),
			8 * sizeof(T),
			hooked::holds::counter,
			8 * P * sizeof(T)};
	}

	/* The first field is at the lowest address: the low bits, here. */
	template <usize I>
	hooked::window part() const
	{
		static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		return {this,
			sizeof(*this),
			8 * I * sizeof(T),
			8 * sizeof(T),
			8 * sizeof(T),
			hooked::holds::counter,
			8 * P * sizeof(T)};
	}
};

template <typename T>
using paired_cell = field_cell<T, 4, 2>;

template <usize I, order O, typename T, usize N, usize P>
inline T load_field(const field_cell<T, N, P> &at, site s)
{
	if (!hooked::running)
		return at.at[I];
	return static_cast<T>(
		hooked::running->load(at.template part<I>(), O, s));
}

template <usize I, order O, typename T, usize N, usize P>
inline void store_field(field_cell<T, N, P> &at, T v, site s)
{
	if (!hooked::running)
		at.at[I] = v;
	else
		hooked::running->store(at.template part<I>(), v, O, s);
}

template <usize I, order O, typename T, usize N, usize P>
inline T exchange_field(field_cell<T, N, P> &at, T v, site s)
{
	if (hooked::running)
		return static_cast<T>(hooked::running->rmw(
			at.template part<I>(), hooked::update::exchange, v, O,
			s));

	const T found = at.at[I];
	at.at[I] = v;
	return found;
}

template <usize I, order O, typename T, usize N, usize P>
inline T fetch_add_field(field_cell<T, N, P> &at, T v, site s)
{
	if (hooked::running)
		return static_cast<T>(hooked::running->rmw(
			at.template part<I>(), hooked::update::add, v, O, s));

	const T found = at.at[I];
	at.at[I] = static_cast<T>(found + v);
	return found;
}

template <usize I, order O, typename T, usize N, usize P, typename Predicate,
	  typename Pace>
inline T await_field_paced(const field_cell<T, N, P> &at, Predicate done,
			   Pace pace, site s)
{
	const T now = at.at[I];

	if (hooked::running)
		return static_cast<T>(hooked::running->await(
			at.template part<I>(), hooked::test_of<T>(done),
			hooked::pace_of<T>(pace), O, s));
	if (!done(now))
		hooked::waits_for_ever(s);
	return now;
}

template <usize I, order O, typename T, usize N, usize P, typename Predicate>
inline T await_field(const field_cell<T, N, P> &at, Predicate done, site s)
{
	if (hooked::running)
		return static_cast<T>(hooked::running->await(
			at.template part<I>(), hooked::test_of<T>(done), {}, O,
			s));
	return await_field_paced<I, O>(
		at, done, [](T) { return 1u; }, s);
}

template <usize I, order O, typename T, usize N, usize P, typename Predicate>
inline T await_exchange_field(field_cell<T, N, P> &at, T desired,
			      Predicate done, site s)
{
	if (hooked::running)
		return static_cast<T>(hooked::running->await_exchange(
			at.template part<I>(), desired,
			hooked::test_of<T>(done), O, s));

	const T found = at.at[I];
	if (!done(found))
		hooked::waits_for_ever(s);
	at.at[I] = desired;
	return found;
}

namespace hooked {

/* All fields as one integer. */
template <typename T, usize N>
constexpr u64 word_from(const fields<T, N> &v)
{
	u64 word = 0;

	for (usize i = 0; i < N; i++)
		word |= static_cast<u64>(v.at[i]) << 8 * i * sizeof(T);
	return word;
}

} // namespace hooked

template <order O, typename T, usize N, usize P>
inline bool compare_exchange_fields(field_cell<T, N, P> &at,
				    fields<T, N> expected, fields<T, N> desired,
				    site s)
{
	if (hooked::running) {
		u64 found = hooked::word_from(expected);
		return hooked::running->compare_exchange(
			at.whole(), found, hooked::word_from(desired), O, s);
	}
	for (usize i = 0; i < N; i++)
		if (at.at[i] != expected.at[i])
			return false;
	for (usize i = 0; i < N; i++)
		at.at[i] = desired.at[i];
	return true;
}

template <order O, typename T, usize N, usize P>
inline void advance_fields(field_cell<T, N, P> &at, fields<T, N> from,
			   fields<T, N> to, site s)
{
	if (hooked::running) {
		hooked::running->advance(at.whole(), hooked::word_from(from),
					 hooked::word_from(to), O, s);
		return;
	}
	for (usize i = 0; i < N; i++)
		at.at[i] = static_cast<T>(at.at[i] + to.at[i] - from.at[i]);
}

} // namespace klock::arch
