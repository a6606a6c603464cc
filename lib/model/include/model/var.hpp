/* SPDX-License-Identifier: MIT */
/*
 * var - plain data in place of plain variables: only their declarations change
 *
 *	model::var<int> count = 0;	count += 2; if (count == 2) ...
 *	model::var<char> name[8];	name[i] = 'x';
 *	model::var<point> where;	where = {1, 2}; point p = where;
 *
 * Each is one location: of a struct the whole, of an array each element. Two
 * accesses, one of them a write, that nothing orders are a data race.
 *
 * Or the variable stays as it is, and code says before what it does to it:
 * model::reads(x), model::writes(x). Always of the same objects: to the checker
 * an array and one of its elements are two locations.
 */
#pragma once

#include <model/here.hpp>
#include <klock/arch/atomic_ops.hpp>
#include <model/places.hpp>

namespace model {

template <typename T>
struct var {
	static_assert(__is_trivially_copyable(T),
		      "klock::model: var<T> takes a T that is trivially "
		      "copyable");

	constexpr var() : at(T{}) {}
	constexpr var(T v) : at(v) {}
	var(const var &other) : at(other.get()) {}

	T get(KLOCK_MODEL_HERE) const { return klock::arch::load_plain(at, s); }
	void set(T v, KLOCK_MODEL_HERE) { klock::arch::store_plain(at, v, s); }

	[[gnu::noinline]] operator T() const { return get(called_from()); }
	[[gnu::noinline]] var &operator=(T v)
	{
		set(v, called_from());
		return *this;
	}
	[[gnu::noinline]] var &operator=(const var &other)
	{
		const klock::arch::site s = called_from();

		set(other.get(s), s);
		return *this;
	}

	/* As two accesses each. */
	template <typename U>
	[[gnu::noinline]] var &operator+=(const U &by)
	{
		return change(called_from(), [&](T v) { return v + by; });
	}
	template <typename U>
	[[gnu::noinline]] var &operator-=(const U &by)
	{
		return change(called_from(), [&](T v) { return v - by; });
	}
	template <typename U>
	[[gnu::noinline]] var &operator|=(const U &by)
	{
		return change(called_from(), [&](T v) { return v | by; });
	}
	template <typename U>
	[[gnu::noinline]] var &operator&=(const U &by)
	{
		return change(called_from(), [&](T v) { return v & by; });
	}
	[[gnu::noinline]] var &operator++()
	{
		return change(called_from(), [](T v) { return ++v; });
	}
	[[gnu::noinline]] var &operator--()
	{
		return change(called_from(), [](T v) { return --v; });
	}
	[[gnu::noinline]] T operator++(int)
	{
		const klock::arch::site s = called_from();
		const T before = get(s);

		change(s, [](T v) { return ++v; });
		return before;
	}
	[[gnu::noinline]] T operator--(int)
	{
		const klock::arch::site s = called_from();
		const T before = get(s);

		change(s, [](T v) { return --v; });
		return before;
	}

	/* Where it is a pointer. */
	[[gnu::noinline]] T operator->() const
		requires klock::detail::is_pointer<T>
	{
		return get(called_from());
	}

      private:
	template <typename Change>
	[[gnu::always_inline]] var &change(klock::arch::site s, Change to)
	{
		set(static_cast<T>(to(get(s))), s);
		return *this;
	}

	klock::arch::plain_cell<T> at;
};

template <typename T>
inline void reads(const T &x, KLOCK_MODEL_HERE)
{
	if (klock::arch::hooked::running)
		klock::arch::hooked::running->read_plain(&x, sizeof(x), s);
}

template <typename T>
inline void writes(const T &x, KLOCK_MODEL_HERE)
{
	if (klock::arch::hooked::running)
		klock::arch::hooked::running->write_plain(&x, &x, sizeof(x), s);
}

} // namespace model

#define KLOCK_MODEL_END
#include <model/here.hpp>
