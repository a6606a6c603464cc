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
#include <model/places.hpp>

namespace model {

using klock::arch::site;

namespace detail {

/* A failed check: an order that the operation cannot have. */
void misuse(const char *what, site);

/* These bytes are an atomic of that type (type_of()), whose value is in some
 * bits; clears the others. */
void note_struct(const void *at, klock::usize bytes, klock::u64 of_value,
		 const void *type);

} // namespace detail

namespace access {

/*
 * A function of the checker's, within the code: the compiler does not tell of
 * it. Its callers tell of their own begin and end, at which the checker clears
 * what it has left on the stack (engine/loops.hpp).
 */
#define KLOCK_MODEL_UNTOLD __attribute__((no_sanitize("thread"))) inline

using klock::order;
using klock::u64;
using klock::u8;
namespace hooked = klock::arch::hooked;

template <typename T>
concept allowed = __is_trivially_copyable(T) && sizeof(T) <= 8;

/* -- Values ------------------------------------------------------------------
 *
 * As words: the value's bytes, padding as zeros.
 */

template <klock::usize Size>
struct raw_bytes {
	unsigned char at[Size];
};

template <typename T>
inline constexpr bool may_have_padding =
	__is_class(T) && !__has_unique_object_representations(T);

#if defined(__has_builtin) && __has_builtin(__builtin_clear_padding)
template <typename T>
inline u64 value_bits()
{
	raw_bytes<sizeof(T)> ones;
	u64 bits = 0;

	__builtin_memset(&ones, 0xff, sizeof(T));
	T all = __builtin_bit_cast(T, ones);
	__builtin_clear_padding(&all);
	__builtin_memcpy(&bits, &all, sizeof(T));
	return bits;
}
#else
template <bool Constant>
struct constant {};

/* A byte of padding has no value, and so is no constant. */
template <typename T, klock::usize Byte>
concept is_of_value = requires {
	typename constant<(
		__builtin_bit_cast(
			raw_bytes<sizeof(T)>,
			__builtin_bit_cast(T, raw_bytes<sizeof(T)>{}))
			.at[Byte] == 0)>;
};

template <typename T, klock::usize Byte = 0>
constexpr u64 bits_of_bytes()
{
	if constexpr (Byte == sizeof(T))
		return 0;
	else
		return (is_of_value<T, Byte> ? u64{0xff} << 8 * Byte : 0) |
		       bits_of_bytes<T, Byte + 1>();
}

/* clang cannot tell of unions, bit-fields and types without a literal: all
 * bits. */
template <typename T>
constexpr u64 value_bits()
{
	const u64 bits = bits_of_bytes<T>();

	return bits || __is_empty(T) ? bits : ~u64{0};
}
#endif

template <typename T>
inline u64 without_padding(u64 word)
{
	if constexpr (may_have_padding<T>)
		return word & value_bits<T>();
	else
		return word;
}

template <typename T>
KLOCK_MODEL_UNTOLD u64 to_word(T v)
{
	u64 word = 0;

	__builtin_memcpy(&word, &v, sizeof(T));
	return without_padding<T>(word);
}

template <typename T>
KLOCK_MODEL_UNTOLD T from_word(u64 word)
{
	raw_bytes<sizeof(T)> raw;

	__builtin_memcpy(&raw, &word, sizeof(T));
	return __builtin_bit_cast(T, raw);
}

template <typename T>
inline hooked::window window_of(const T *at)
{
	return {at, sizeof(T), 0, 8 * sizeof(T), 0, hooked::what_it_holds<T>()};
}

/* window_of(), in a run: padding that an object was made with is cleared. */
template <typename T>
inline hooked::window location_at(const T *at)
{
	if constexpr (may_have_padding<T>)
		detail::note_struct(at, sizeof(T), value_bits<T>(),
				    detail::type_of<T>());
	else if constexpr (__is_class(T))
		detail::note_struct(at, sizeof(T), ~u64{0},
				    detail::type_of<T>());
	return window_of(at);
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
	const u64 there = native_load(at);

	if (may_have_padding<T> && without_padding<T>(there) == expected)
		expected = there;
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
KLOCK_MODEL_UNTOLD T load(const T *at, order o, site s)
{
	if (!hooked::running)
		return from_word<T>(native_load(at));
	if (!only_loads(o))
		detail::misuse("a load of an order with release", s);
	return from_word<T>(hooked::running->load(location_at(at), o, s));
}

template <typename T>
KLOCK_MODEL_UNTOLD void store(T *at, T v, order o, site s)
{
	if (!hooked::running) {
		native_rmw(at, hooked::update::exchange, to_word(v));
		return;
	}
	if (o == order::acquire || o == order::acq_rel)
		detail::misuse("a store of an order with acquire", s);
	hooked::running->store(location_at(at), to_word(v), o, s);
}

/* The word that was there. */
template <typename T>
KLOCK_MODEL_UNTOLD u64 rmw_word(T *at, hooked::update how, u64 operand, order o,
				site s)
{
	if (!hooked::running)
		return native_rmw(at, how, operand);
	return hooked::running->rmw(location_at(at), how, operand, o, s);
}

template <typename T>
KLOCK_MODEL_UNTOLD T rmw(T *at, hooked::update how, T operand, order o, site s)
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
			location_at(at), found, to_word(desired), o, failed,
			weak, s);
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
		hooked::running->wait_while(location_at(at), to_word(old), o,
					    s);
	else
		while (without_padding<T>(native_load(at)) == to_word(old))
			;
}

template <typename T>
inline void notify(const T *at, bool all, site s)
{
	if (hooked::running)
		hooked::running->notify(location_at(at), all, s);
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

#undef KLOCK_MODEL_UNTOLD

} // namespace access
} // namespace model
