/* SPDX-License-Identifier: MIT */
/*
 * std_operations - what std::atomic<T> and std::atomic_ref<T> can do
 *
 * The place in the code that a timeline names is the caller's. Functions have
 * it as a last argument with a default; operators can have none, so that their
 * operand is one: converting to it notes where it was converted. But for the
 * conversion to T, which has neither: places.hpp asks the stack.
 */
#pragma once

#include <model/access.hpp>
#include <model/places.hpp>

#include <bits/move.h>
#include <type_traits>

namespace model::standard {

using klock::order;
using klock::u64;
using std::memory_order;
using update = access::hooked::update;

constexpr order from(memory_order o)
{
	return o == memory_order::consume
		       ? order::acquire
		       : static_cast<order>(static_cast<int>(o));
}

/* What a failure has if it is not said: the same, less the store. */
constexpr memory_order failure_of(memory_order o)
{
	return static_cast<memory_order>(
		static_cast<int>(klock::without_store(from(o))));
}

/* -- Operands of operators --------------------------------------------------
 */

/* What an operator works on, and where. */
template <typename Self>
struct here {
	const volatile Self &self;
	site s;

	here(const Self &of, site at = klock::caller_site<site>())
	    : self(of), s(at)
	{
	}
	here(const volatile Self &of, site at = klock::caller_site<site>())
	    : self(of), s(at)
	{
	}
};

/* What is assigned, and where. */
template <typename T>
struct located {
	T v;
	site s;

	located(T value, site at = klock::caller_site<site>()) : v(value), s(at)
	{
	}
	template <typename U>
		requires(std::is_convertible_v<U, T> &&
			 !std::is_same_v<std::remove_cvref_t<U>, T>)
	located(U &&value, site at = klock::caller_site<site>())
	    : v(static_cast<T>(std::forward<U>(value))), s(at)
	{
	}
};

/* -- What arithmetic does to a word ----------------------------------------
 */

template <typename T>
concept number = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
concept pointer =
	std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>;
template <typename T>
concept real = std::is_floating_point_v<T>;
template <typename T>
concept adds = number<T> || pointer<T> || real<T>;

template <typename T>
struct difference {
	using type = T;
};
template <typename T>
struct difference<T *> {
	using type = std::ptrdiff_t;
};

template <adds T>
using difference_of = typename difference<T>::type;

template <typename T, typename By>
inline T changed(T *at, update how, By by, order o, site s)
{
	if constexpr (pointer<T>) {
		const auto bytes =
			by * static_cast<std::ptrdiff_t>(sizeof(*T{}));
		return access::from_word<T>(access::rmw_word(
			at, how, static_cast<u64>(bytes), o, s));
	} else if constexpr (real<T>) {
		T found = access::load(at, order::relaxed, s);
		while (!access::compare_exchange(
			at, found, how == update::add ? found + by : found - by,
			o, order::relaxed, true, s))
			;
		return found;
	} else {
		return access::rmw(at, how, static_cast<T>(by), o, s);
	}
}

/* -- The operations ---------------------------------------------------------
 *
 * Self::where() says where the value is. Const and volatile, all of them: a
 * reference changes what it does not own, and C code has volatile atomics.
 */

template <typename Self, typename T>
struct operations {
	using value_type = T;
	static constexpr bool is_always_lock_free = true;

	bool is_lock_free() const volatile noexcept { return true; }

	T load(memory_order o = memory_order::seq_cst, KLOCK_MODEL_HERE) const
		volatile noexcept
	{
		return access::load(at(), from(o), s);
	}

	void store(T v, memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::store(at(), v, from(o), s);
	}

	T exchange(T v, memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) const volatile noexcept
	{
		return access::rmw(at(), update::exchange, v, from(o), s);
	}

	bool compare_exchange_strong(T &expected, T v, memory_order o,
				     memory_order failed,
				     KLOCK_MODEL_HERE) const volatile noexcept
	{
		return access::compare_exchange(at(), expected, v, from(o),
						from(failed), false, s);
	}
	bool compare_exchange_strong(T &expected, T v,
				     memory_order o = memory_order::seq_cst,
				     KLOCK_MODEL_HERE) const volatile noexcept
	{
		return compare_exchange_strong(expected, v, o, failure_of(o),
					       s);
	}

	bool compare_exchange_weak(T &expected, T v, memory_order o,
				   memory_order failed, KLOCK_MODEL_HERE) const
		volatile noexcept
	{
		return access::compare_exchange(at(), expected, v, from(o),
						from(failed), true, s);
	}
	bool compare_exchange_weak(T &expected, T v,
				   memory_order o = memory_order::seq_cst,
				   KLOCK_MODEL_HERE) const volatile noexcept
	{
		return compare_exchange_weak(expected, v, o, failure_of(o), s);
	}

	void wait(T old, memory_order o = memory_order::seq_cst,
		  KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::wait_while(at(), old, from(o), s);
	}
	void notify_one(KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::notify(at(), s);
	}
	void notify_all(KLOCK_MODEL_HERE) const volatile noexcept
	{
		access::notify(at(), s);
	}

	/* -- Numbers and pointers -- */

	template <adds N = T>
	T fetch_add(difference_of<N> by, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
	{
		return changed(at(), update::add, by, from(o), s);
	}
	template <adds N = T>
	T fetch_sub(difference_of<N> by, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
	{
		return changed(at(), update::subtract, by, from(o), s);
	}
	T fetch_and(T bits, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
		requires number<T>
	{
		return access::rmw(at(), update::bit_and, bits, from(o), s);
	}
	T fetch_or(T bits, memory_order o = memory_order::seq_cst,
		   KLOCK_MODEL_HERE) const volatile noexcept
		requires number<T>
	{
		return access::rmw(at(), update::bit_or, bits, from(o), s);
	}
	T fetch_xor(T bits, memory_order o = memory_order::seq_cst,
		    KLOCK_MODEL_HERE) const volatile noexcept
		requires number<T>
	{
		return access::rmw(at(), update::bit_xor, bits, from(o), s);
	}

	/* -- Operators: seq_cst, each one RMW -- */

	friend T operator++(here<Self> x) noexcept
		requires adds<T>
	{
		return static_cast<T>(operations::moved(x, update::add, 1) + 1);
	}
	friend T operator++(here<Self> x, int) noexcept
		requires adds<T>
	{
		return operations::moved(x, update::add, 1);
	}
	friend T operator--(here<Self> x) noexcept
		requires adds<T>
	{
		return static_cast<T>(
			operations::moved(x, update::subtract, 1) - 1);
	}
	friend T operator--(here<Self> x, int) noexcept
		requires adds<T>
	{
		return operations::moved(x, update::subtract, 1);
	}
	template <adds N = T>
	T operator+=(located<difference_of<N>> by) const volatile noexcept
	{
		return static_cast<T>(
			changed(at(), update::add, by.v, order::seq_cst, by.s) +
			by.v);
	}
	template <adds N = T>
	T operator-=(located<difference_of<N>> by) const volatile noexcept
	{
		return static_cast<T>(changed(at(), update::subtract, by.v,
					      order::seq_cst, by.s) -
				      by.v);
	}
	T operator&=(located<T> by) const volatile noexcept
		requires number<T>
	{
		return static_cast<T>(
			fetch_and(by.v, memory_order::seq_cst, by.s) & by.v);
	}
	T operator|=(located<T> by) const volatile noexcept
		requires number<T>
	{
		return static_cast<T>(
			fetch_or(by.v, memory_order::seq_cst, by.s) | by.v);
	}
	T operator^=(located<T> by) const volatile noexcept
		requires number<T>
	{
		return static_cast<T>(
			fetch_xor(by.v, memory_order::seq_cst, by.s) ^ by.v);
	}

	/* Not inlined: it returns into the line that reads. */
	[[gnu::noinline]] operator T() const volatile noexcept
	{
		return access::load(at(), order::seq_cst, called_from());
	}

      protected:
	T *at() const volatile
	{
		return static_cast<const volatile Self *>(this)->where();
	}

      private:
	static T moved(here<Self> x, update how, int by)
	{
		const volatile operations &self = x.self;
		return changed(self.at(), how, by, order::seq_cst, x.s);
	}
};

} // namespace model::standard
