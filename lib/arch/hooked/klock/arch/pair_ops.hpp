/* SPDX-License-Identifier: MIT */
/*
 * pair_ops - two values in one word, as calls to an engine
 *
 * The second part of atomic_ops.hpp, which includes it behind what it needs.
 */
#pragma once

namespace klock::arch {

/* One location of twice the width; an operation on a half looks at half. */
template <typename T>
struct alignas(2 * sizeof(T)) pair_cell {
	T halves[2];

	constexpr explicit pair_cell(pair<T> v) : halves{v.first, v.second}
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->born(this, sizeof(*this));
	}
	constexpr ~pair_cell()
	{
		if (!__builtin_is_constant_evaluated() && hooked::running)
			hooked::running->dead(this, sizeof(*this));
	}
	pair_cell(const pair_cell &) = delete;
	pair_cell &operator=(const pair_cell &) = delete;

	hooked::window whole() const
	{
		return {this, 2 * sizeof(T), 0, 16 * sizeof(T), true};
	}

	/* The first half is at the lower address: the low bits, here. */
	template <half H>
	hooked::window part() const
	{
		static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		return {this, 2 * sizeof(T),
			H == half::first ? u8{0} : u8{8 * sizeof(T)},
			8 * sizeof(T), true};
	}
};

template <half H, order O, typename T>
inline T load_half(const pair_cell<T> &at, site s)
{
	if (!hooked::running)
		return at.halves[static_cast<int>(H)];
	return static_cast<T>(
		hooked::running->load(at.template part<H>(), O, s));
}

template <half H, order O, typename T>
inline void store_half(pair_cell<T> &at, T v, site s)
{
	if (!hooked::running)
		at.halves[static_cast<int>(H)] = v;
	else
		hooked::running->store(at.template part<H>(), v, O, s);
}

template <half H, order O, typename T>
inline T fetch_add_half(pair_cell<T> &at, T v, site s)
{
	if (hooked::running)
		return static_cast<T>(hooked::running->rmw(
			at.template part<H>(), hooked::update::add, v, O, s));

	T &mine = at.halves[static_cast<int>(H)];
	const T found = mine;
	mine = static_cast<T>(found + v);
	return found;
}

template <half H, order O, typename T, typename Predicate, typename Pace>
inline T await_half_paced(const pair_cell<T> &at, Predicate done, Pace pace,
			  site s)
{
	const T now = at.halves[static_cast<int>(H)];

	if (hooked::running)
		return static_cast<T>(hooked::running->await(
			at.template part<H>(), hooked::test_of<T>(done),
			hooked::pace_of<T>(pace), O, s));
	if (!done(now))
		hooked::waits_for_ever();
	return now;
}

template <half H, order O, typename T, typename Predicate>
inline T await_half(const pair_cell<T> &at, Predicate done, site s)
{
	if (hooked::running)
		return static_cast<T>(hooked::running->await(
			at.template part<H>(), hooked::test_of<T>(done), {}, O,
			s));
	return await_half_paced<H, O>(
		at, done, [](T) { return 1u; }, s);
}

template <order O, typename T>
inline bool compare_exchange_pair(pair_cell<T> &at, pair<T> expected,
				  pair<T> desired, site s)
{
	const auto word = [](pair<T> v) {
		return static_cast<u64>(v.first) | static_cast<u64>(v.second)
							   << 8 * sizeof(T);
	};

	if (hooked::running) {
		u64 found = word(expected);
		return hooked::running->compare_exchange(at.whole(), found,
							 word(desired), O, s);
	}
	if (at.halves[0] != expected.first || at.halves[1] != expected.second)
		return false;
	at.halves[0] = desired.first;
	at.halves[1] = desired.second;
	return true;
}

} // namespace klock::arch
