/* SPDX-License-Identifier: MIT */
/*
 * access - any object's memory as a location of the checker
 *
 * std_atomic.hpp is made of it: operations on a T in place, with their orders
 * as arguments. While no checker runs they are the compiler's builtins, for any
 * thread.
 */
#pragma once

#include <klock/arch/atomic_ops.hpp>
#include <klock/types.hpp>

namespace model {

using klock::arch::site;

namespace detail {

/* A failed check: an order that the operation cannot have. */
void misuse(const char *what, site);

} // namespace detail

namespace access {

using klock::order;
using klock::u64;
using klock::u8;
namespace hooked = klock::arch::hooked;

template <typename T>
concept allowed = __is_trivially_copyable(T) && sizeof(T) <= 8;

/* -- Values ------------------------------------------------------------------
 *
 * As words: the value's bytes, padding as zeros if the compiler can tell it.
 */

template <typename T>
inline u64 to_word(T v)
{
	u64 word = 0;

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
	if constexpr (__is_class(T))
		__builtin_clear_padding(&v);
#endif
#endif
	__builtin_memcpy(&word, &v, sizeof(T));
	return word;
}

template <typename T>
inline T from_word(u64 word)
{
	struct bytes {
		unsigned char at[sizeof(T)];
	} raw;

	__builtin_memcpy(&raw, &word, sizeof(T));
	return __builtin_bit_cast(T, raw);
}

template <typename T>
inline hooked::window window_of(const T *at)
{
	return {at, sizeof(T), 0, 8 * sizeof(T), 0, hooked::what_it_holds<T>()};
}

/* -- Outside a run ----------------------------------------------------------
 */

template <typename T>
inline constexpr bool one_access =
	sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;

template <typename T>
struct aliasing {
	using word [[gnu::may_alias]] = klock::word_of<sizeof(T)>;
};

template <typename T>
inline u64 native_load(const T *at)
{
	u64 v = 0;

	if constexpr (one_access<T>)
		v = __atomic_load_n(
			reinterpret_cast<const typename aliasing<T>::word *>(
				at),
			__ATOMIC_SEQ_CST);
	else
		__builtin_memcpy(&v, at, sizeof(T));
	return v;
}

template <typename T>
inline bool native_swap(T *at, u64 &expected, u64 desired)
{
	if constexpr (one_access<T>) {
		using word = typename aliasing<T>::word;
		word found = static_cast<word>(expected);
		const bool swapped = __atomic_compare_exchange_n(
			reinterpret_cast<word *>(at), &found,
			static_cast<word>(desired), false, __ATOMIC_SEQ_CST,
			__ATOMIC_SEQ_CST);
		expected = found;
		return swapped;
	} else {
		const u64 found = native_load(at);
		if (found == expected)
			__builtin_memcpy(static_cast<void *>(at), &desired,
					 sizeof(T));
		const bool swapped = found == expected;
		expected = found;
		return swapped;
	}
}

template <typename T>
inline u64 native_rmw(T *at, hooked::update how, u64 operand)
{
	const u64 all = window_of(at).mask();
	u64 found = native_load(at);

	while (!native_swap(at, found,
			    hooked::updated(how, found, operand) & all))
		;
	return found;
}

/* -- Operations -------------------------------------------------------------
 */

inline bool only_loads(order o)
{
	return o != order::release && o != order::acq_rel;
}

template <typename T>
inline T load(const T *at, order o, site s)
{
	if (!hooked::running)
		return from_word<T>(native_load(at));
	if (!only_loads(o))
		detail::misuse("a load of an order with release", s);
	return from_word<T>(hooked::running->load(window_of(at), o, s));
}

template <typename T>
inline void store(T *at, T v, order o, site s)
{
	if (!hooked::running) {
		native_rmw(at, hooked::update::exchange, to_word(v));
		return;
	}
	if (o == order::acquire || o == order::acq_rel)
		detail::misuse("a store of an order with acquire", s);
	hooked::running->store(window_of(at), to_word(v), o, s);
}

/* The word that was there. */
template <typename T>
inline u64 rmw_word(T *at, hooked::update how, u64 operand, order o, site s)
{
	if (!hooked::running)
		return native_rmw(at, how, operand);
	return hooked::running->rmw(window_of(at), how, operand, o, s);
}

template <typename T>
inline T rmw(T *at, hooked::update how, T operand, order o, site s)
{
	return from_word<T>(rmw_word(at, how, to_word(operand), o, s));
}

/* Once, if weak: it may fail where options.spurious lets it. */
template <typename T>
inline bool compare_exchange(T *at, T &expected, T desired, order o,
			     order failed, bool weak, site s)
{
	u64 found = to_word(expected);
	bool swapped;

	if (!hooked::running) {
		swapped = native_swap(at, found, to_word(desired));
	} else {
		swapped = hooked::running->compare_exchange_or(
			window_of(at), found, to_word(desired), o, failed, weak,
			s);
	}
	if (!swapped)
		expected = from_word<T>(found);
	return swapped;
}

inline void fence(order o, site s)
{
	/* In code that tells of its fences this would be told, too. */
	if (!hooked::running)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else if (o != order::relaxed)
		hooked::running->fence(o, s);
}

/* -- Waits -------------------------------------------------------------------
 */

template <typename T>
inline void wait_while(const T *at, T old, order o, site s)
{
	if (!only_loads(o))
		detail::misuse("a wait of an order with release", s);
	if (hooked::running)
		hooked::running->wait_while(window_of(at), to_word(old), o, s);
	else
		while (native_load(at) == to_word(old))
			;
}

template <typename T>
inline void notify(const T *at, site s)
{
	if (hooked::running)
		hooked::running->notify(window_of(at), s);
}

/* -- Lifetimes --------------------------------------------------------------
 */

inline void born(const volatile void *at, klock::usize bytes)
{
	if (hooked::running)
		hooked::running->born(const_cast<const void *>(at), bytes);
}

inline void dead(const volatile void *at, klock::usize bytes)
{
	if (hooked::running)
		hooked::running->dead(const_cast<const void *>(at), bytes);
}

} // namespace access
} // namespace model
