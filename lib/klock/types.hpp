/* SPDX-License-Identifier: MIT */
/*
 * types - the integers, the memory orders, and the call sites for reports
 *
 * Everything else in klock includes this. It includes only the two headers that
 * every freestanding compiler has, and the port's port.hpp, which is an error
 * if the port does not fit.
 */
#pragma once

#include <klock/arch/port.hpp>

#include <stddef.h>
#include <stdint.h>

namespace klock {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using usize = size_t;

namespace detail {
struct not_packed {
	u8 one;
	usize two;
};
} // namespace detail
static_assert(sizeof(usize) >= 4, "klock is for CPUs of 32 and 64 bits");
static_assert(sizeof(detail::not_packed) == sizeof(usize) + alignof(usize),
	      "#pragma pack is on around klock's headers: end it before");

/*
 * Whether the linker knows names of which it keeps one, and refuses strong ones
 * that are defined twice. Ports say so by including one_version.hpp.
 */
namespace arch_defaults {
inline constexpr bool linker_refuses_twice = false;
}
namespace arch {
using namespace arch_defaults;
}

/*
 * The memory orders of C++20 (ISO 14882:2020, [atomics.order]), less consume.
 *
 * The values are those that GCC and clang give to their __atomic builtins; a
 * port asserts that (arch/CONTRACT.md). Nobody writes an order as an argument:
 * it is part of the operation's name in <klock/atomic.hpp>.
 */
enum class order : int {
	relaxed = 0,
	acquire = 2,
	release = 3,
	acq_rel = 4,
	seq_cst = 5,
};

/* A failed compare_exchange has its success order, less the store. */
constexpr order without_store(order o)
{
	if (o == order::release)
		return order::relaxed;
	return o == order::acq_rel ? order::acquire : o;
}

/* A function that waiters may call: concepts.hpp, serving_lock. */
template <typename Serve>
concept serves = requires(Serve &serve) { serve(); };

/* -- The types of atomic<T> ----------------------------------------------- */

namespace detail {
template <typename T, typename... Types>
inline constexpr bool is_one_of = (__is_same(T, Types) || ...);

template <typename T>
inline constexpr bool is_pointer = false;
template <typename T>
inline constexpr bool is_pointer<T *> = true;
} // namespace detail

/* The integers of the language, without bool. */
template <typename T>
concept integer =
	detail::is_one_of<T, char, signed char, unsigned char, wchar_t, char8_t,
			  char16_t, char32_t, short, unsigned short, int,
			  unsigned, long, unsigned long, long long,
			  unsigned long long>;

/* A counter that wraps, such as one of tickets. */
template <typename T>
concept counter = detail::is_one_of<T, u8, u16, u32>;

template <typename T>
concept enumeration = __is_enum(T);

/* A type with bits to set and clear: fetch_or, fetch_and, fetch_xor. */
template <typename T>
concept bit_set = integer<T> || enumeration<T> || __is_same(T, bool);

/*
 * A type that one access of any CPU reads or writes whole. A wider one is
 * a library call, or needs the FPU: a kernel has neither.
 */
template <typename T>
concept atomic_value =
	sizeof(T) <= sizeof(void *) && (bit_set<T> || detail::is_pointer<T>);

namespace detail {
template <typename T>
struct stored {
	using type = T;
};
template <enumeration T>
struct stored<T> {
	using type = __underlying_type(T);
};

template <usize Bytes>
struct word;
template <>
struct word<1> {
	using type = u8;
};
template <>
struct word<2> {
	using type = u16;
};
template <>
struct word<4> {
	using type = u32;
};
template <>
struct word<8> {
	using type = u64;
};
} // namespace detail

/* The unsigned integer of that many bytes. */
template <usize Bytes>
using word_of = typename detail::word<Bytes>::type;

/* The type in which a port stores a T: an enum's integer; else T itself. */
template <typename T>
using stored_as = typename detail::stored<T>::type;

/* For ports: converts a value to the type in which it is stored. */
template <typename T>
constexpr stored_as<T> to_stored(T v)
{
	if constexpr (enumeration<T>)
		return static_cast<stored_as<T>>(v);
	else
		return v;
}

/* For ports: converts it back. */
template <typename T>
constexpr T from_stored(stored_as<T> v)
{
	if constexpr (enumeration<T>)
		return static_cast<T>(v);
	else
		return v;
}

/*
 * Two counters that lie side by side and can be read as one word:
 * the value type of atomic_pair<T> (<klock/atomic.hpp>).
 */
template <typename T>
struct pair {
	T first;
	T second;

	friend constexpr bool operator==(const pair &, const pair &) = default;
};

/*
 * field<I>{} - which of several counters in one word an operation is on
 *
 * The first argument of each operation on one of them. A lock gives them names,
 * `static constexpr field<0> owner{}`, and calls `tickets.load_relaxed(owner)`.
 */
template <usize I>
struct field {
	static constexpr usize number = I;
};

/*
 * The value type of atomic_fields<T, N> (<klock/atomic.hpp>): two, three or
 * four counters in one word, the first at the lowest address.
 */
template <typename T, usize N>
struct fields {
	T at[N];

	friend constexpr bool operator==(const fields &,
					 const fields &) = default;
};

namespace detail {
/* How many fields the word has: two or four, the last of four perhaps empty. */
template <usize N>
inline constexpr usize fields_in_word = N == 2 ? 2 : 4;
} // namespace detail

/*
 * The constructor argument for a lock that is held from the start: constinit
 * ticket_lock<u8> gate(initially_held). It has no holder; one unlock() opens
 * it.
 */
struct taken_already {
	explicit constexpr taken_already() = default;
};
inline constexpr taken_already initially_held{};

/*
 * The visitor of a wait that nobody watches: lock() is
 * lock_watched(unwatched{}). A lock that may have to wait calls watch(has_to,
 * wait), or watch(has_to, wait, go_on). has_to() reads whether the caller must
 * wait now; this visitor does not call it. wait() then takes the lock; if there
 * is a go_on(), that takes it if the caller need not wait. counted_lock.hpp has
 * a visitor that measures the time, and waits in a function of its own.
 */
struct unwatched {
	template <typename Test, typename Wait, typename... Else>
	constexpr void operator()(Test, Wait wait, Else...) const
	{
		wait();
	}
};

/* The file and line of a call. */
struct call_site {
	const char *file;
	int line;
};

/*
 * The default argument of the last parameter of a function that reports its
 * caller: "call_site by = caller_site()". The builtins name the outermost call.
 * Site: call_site, or a port's own, which may be empty.
 */
template <typename Site = call_site>
constexpr Site caller_site(const char *file = __builtin_FILE(),
			   int line = __builtin_LINE())
{
	return {file, line};
}

/* The patience of a wait that does not end (<klock/atomic.hpp>). */
inline constexpr u32 endless = ~u32{0};

/* The two counters of a pair, as arguments: load_relaxed(half::first). */
struct half {
	static constexpr field<0> first{};
	static constexpr field<1> second{};
};

} // namespace klock
