/* SPDX-License-Identifier: MIT */
/*
 * field_ops - several values in one word, as calls to an engine
 *
 * The second part of atomic_ops.hpp, which includes it behind what it needs.
 */
#pragma once

namespace klock::arch {

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
