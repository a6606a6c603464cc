/* SPDX-License-Identifier: MIT */
/*
 * table - every operation of atomic<T> and of several fields, by its name
 *
 * The one list of them for all tests of this folder. What an operation must do
 * and its order follow from its name, which the tests read: nothing here says
 * it a second time. tests_host/codegen/operations.py looks that no operation of
 * the headers is missing. Freestanding.
 */
#pragma once

/* The default list of types; level full has every_type. */
#ifndef KLOCK_TYPES
#define KLOCK_TYPES each_representation
#endif

#include <klock/atomic.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/types.hpp>

namespace klock::tests {

using selftest::list;
using selftest::text;

/* One operation: its name, and how it is called. */
template <text Name, auto Call>
struct op {
	static constexpr const char *name = Name.chars;
	static constexpr auto call = Call;
};

/* A list's operations, which are all called alike: as data. */
template <typename List>
struct calls;
template <typename First, typename... More>
struct calls<list<First, More...>> {
	struct one {
		const char *name;
		decltype(First::call) call;
	};
	static constexpr one all[] = {{First::name, First::call},
				      {More::name, More::call}...};
};

template <typename T>
using loads = list<op<"load_relaxed", &atomic<T>::load_relaxed>,
		   op<"load_acquire", &atomic<T>::load_acquire>,
		   op<"load_seq_cst", &atomic<T>::load_seq_cst>>;

template <typename T>
using stores = list<op<"store_relaxed", &atomic<T>::store_relaxed>,
		    op<"store_release", &atomic<T>::store_release>,
		    op<"store_seq_cst", &atomic<T>::store_seq_cst>>;

template <typename T>
using exchanges = list<op<"exchange_relaxed", &atomic<T>::exchange_relaxed>,
		       op<"exchange_acquire", &atomic<T>::exchange_acquire>,
		       op<"exchange_release", &atomic<T>::exchange_release>,
		       op<"exchange_acq_rel", &atomic<T>::exchange_acq_rel>,
		       op<"exchange_seq_cst", &atomic<T>::exchange_seq_cst>>;

/* Sums, of integers */
template <integer T>
using sums = list<op<"fetch_add_relaxed", &atomic<T>::fetch_add_relaxed>,
		  op<"fetch_add_acquire", &atomic<T>::fetch_add_acquire>,
		  op<"fetch_add_release", &atomic<T>::fetch_add_release>,
		  op<"fetch_add_acq_rel", &atomic<T>::fetch_add_acq_rel>,
		  op<"fetch_add_seq_cst", &atomic<T>::fetch_add_seq_cst>,
		  op<"fetch_sub_relaxed", &atomic<T>::fetch_sub_relaxed>,
		  op<"fetch_sub_acquire", &atomic<T>::fetch_sub_acquire>,
		  op<"fetch_sub_release", &atomic<T>::fetch_sub_release>,
		  op<"fetch_sub_acq_rel", &atomic<T>::fetch_sub_acq_rel>,
		  op<"fetch_sub_seq_cst", &atomic<T>::fetch_sub_seq_cst>>;

/* Bit changes, of integers, enums and bool */
template <bit_set T>
using bit_changes =
	list<op<"fetch_or_relaxed", &atomic<T>::fetch_or_relaxed>,
	     op<"fetch_or_acquire", &atomic<T>::fetch_or_acquire>,
	     op<"fetch_or_release", &atomic<T>::fetch_or_release>,
	     op<"fetch_or_acq_rel", &atomic<T>::fetch_or_acq_rel>,
	     op<"fetch_or_seq_cst", &atomic<T>::fetch_or_seq_cst>,
	     op<"fetch_and_relaxed", &atomic<T>::fetch_and_relaxed>,
	     op<"fetch_and_acquire", &atomic<T>::fetch_and_acquire>,
	     op<"fetch_and_release", &atomic<T>::fetch_and_release>,
	     op<"fetch_and_acq_rel", &atomic<T>::fetch_and_acq_rel>,
	     op<"fetch_and_seq_cst", &atomic<T>::fetch_and_seq_cst>,
	     op<"fetch_xor_relaxed", &atomic<T>::fetch_xor_relaxed>,
	     op<"fetch_xor_acquire", &atomic<T>::fetch_xor_acquire>,
	     op<"fetch_xor_release", &atomic<T>::fetch_xor_release>,
	     op<"fetch_xor_acq_rel", &atomic<T>::fetch_xor_acq_rel>,
	     op<"fetch_xor_seq_cst", &atomic<T>::fetch_xor_seq_cst>>;

template <typename T>
using swaps = list<
	op<"compare_exchange_relaxed", &atomic<T>::compare_exchange_relaxed>,
	op<"compare_exchange_acquire", &atomic<T>::compare_exchange_acquire>,
	op<"compare_exchange_release", &atomic<T>::compare_exchange_release>,
	op<"compare_exchange_acq_rel", &atomic<T>::compare_exchange_acq_rel>,
	op<"compare_exchange_seq_cst", &atomic<T>::compare_exchange_seq_cst>>;

/* Waits for a value, and until the value is another. */
template <typename T>
using waits_for_value =
	list<op<"await_eq_relaxed", &atomic<T>::await_eq_relaxed>,
	     op<"await_eq_acquire", &atomic<T>::await_eq_acquire>,
	     op<"await_ne_relaxed", &atomic<T>::await_ne_relaxed>,
	     op<"await_ne_acquire", &atomic<T>::await_ne_acquire>>;

/*
 * -- On one of several counters in a word: X, an atomic_pair or atomic_fields
 * --
 */

template <typename X, usize I>
using field_loads = list<op<"load_relaxed", &X::template load_relaxed<I>>,
			 op<"load_acquire", &X::template load_acquire<I>>>;

template <typename X, usize I>
using field_stores = list<op<"store_relaxed", &X::template store_relaxed<I>>,
			  op<"store_release", &X::template store_release<I>>>;

template <typename X, usize I>
using field_exchanges =
	list<op<"exchange_acq_rel", &X::template exchange_acq_rel<I>>>;

template <typename X, usize I>
using field_sums =
	list<op<"fetch_add_relaxed", &X::template fetch_add_relaxed<I>>,
	     op<"fetch_add_acquire", &X::template fetch_add_acquire<I>>,
	     op<"fetch_add_release", &X::template fetch_add_release<I>>,
	     op<"fetch_add_acq_rel", &X::template fetch_add_acq_rel<I>>>;

template <typename X, usize I>
using field_waits =
	list<op<"await_eq_relaxed", &X::template await_eq_relaxed<I>>,
	     op<"await_eq_acquire", &X::template await_eq_acquire<I>>>;

/* -- On all of them -- */

template <typename T>
using pair_swaps = list<op<"compare_exchange_relaxed",
			   &atomic_pair<T>::compare_exchange_relaxed>,
			op<"compare_exchange_acquire",
			   &atomic_pair<T>::compare_exchange_acquire>>;

template <typename T, usize N>
using field_swaps = list<op<"compare_exchange_acquire",
			    &atomic_fields<T, N>::compare_exchange_acquire>,
			 op<"compare_exchange_acq_rel",
			    &atomic_fields<T, N>::compare_exchange_acq_rel>>;

template <typename T, usize N>
using field_advances =
	list<op<"advance_release", &atomic_fields<T, N>::advance_release>>;

/* -- Fences -- */

using fences = list<op<"fence_acquire", &fence_acquire>,
		    op<"fence_release", &fence_release>,
		    op<"fence_acq_rel", &fence_acq_rel>,
		    op<"fence_seq_cst", &fence_seq_cst>>;

/* -- The parts of a name -------------------------------------------------- */

constexpr bool begins_with(const char *name, const char *start)
{
	while (*start && *name == *start)
		name++, start++;
	return !*start;
}

constexpr bool ends_with(const char *name, const char *end)
{
	for (; *name; name++) {
		const char *a = name, *b = end;

		while (*a && *a == *b)
			a++, b++;
		if (!*a && !*b)
			return true;
	}
	return false;
}

constexpr order order_of(const char *name)
{
	if (ends_with(name, "_acquire"))
		return order::acquire;
	if (ends_with(name, "_release"))
		return order::release;
	if (ends_with(name, "_acq_rel"))
		return order::acq_rel;
	return ends_with(name, "_seq_cst") ? order::seq_cst : order::relaxed;
}

/*
 * Returns the new value that a read-modify-write of this name stores, as words.
 */
constexpr u64 made_by(const char *name, u64 found, u64 operand)
{
	if (begins_with(name, "fetch_add_"))
		return found + operand;
	if (begins_with(name, "fetch_sub_"))
		return found - operand;
	if (begins_with(name, "fetch_or_"))
		return found | operand;
	if (begins_with(name, "fetch_and_"))
		return found & operand;
	if (begins_with(name, "fetch_xor_"))
		return found ^ operand;
	return operand; /* an exchange */
}

/* -- The types ------------------------------------------------------------ */

enum class scoped : u8 { none, one, two, all = 255 };
enum class wide : int { least = -2147483647 - 1, minus = -1, none, most = 7 };
enum flags { no_flag, first_flag, second_flag, both_flags };
enum class yes_or_no : bool { no, yes };

struct thing {
	int number;
};

/* Every kind and every width of what atomic<T> takes. */
template <typename... Types>
struct types {
	template <typename Visit>
	static constexpr void for_each(Visit visit)
	{
		(visit.template operator()<Types>(), ...);
	}
};

using all_types =
	types<bool, char, signed char, unsigned char, short, unsigned short,
	      int, unsigned, long, unsigned long, char8_t, char16_t, char32_t,
	      wchar_t, intptr_t, uintptr_t, scoped, wide, flags, yes_or_no,
	      thing *, const char *, void *, void (*)(int)>;

/* One of each representation: a port has no other instructions for the rest. */
using distinct_types = types<bool, unsigned char, short, int, unsigned long,
			     scoped, wide, flags, thing *>;

using pair_types = types<u8, u16, u32>;

/* Visits with T, and how many of them. */
struct field_types {
	template <typename Visit>
	static constexpr void for_each(Visit visit)
	{
		visit.template operator()<u8, 2>();
		visit.template operator()<u8, 3>();
		visit.template operator()<u8, 4>();
		visit.template operator()<u16, 2>();
		visit.template operator()<u16, 3>();
		visit.template operator()<u16, 4>();
		visit.template operator()<u32, 2>();
	}
};

/*
 * The types that are tried: all of these, or each representation once, or bytes
 * alone.
 */
struct every_type {
	using values = all_types;
	using pairs = pair_types;
	using fields = field_types;
};
struct each_representation : every_type {
	using values = distinct_types;
};
struct bytes_alone {
	using values = types<u8>;
	using pairs = types<u8>;
	struct fields {
		template <typename Visit>
		static constexpr void for_each(Visit visit)
		{
			visit.template operator()<u8, 3>();
		}
	};
};

/* A value as its bits, and back: no conversion of ours in between. */
template <typename T>
constexpr u64 bits_of(T v)
{
	return __builtin_bit_cast(word_of<sizeof(T)>, v);
}

template <typename T>
constexpr T value_of(u64 bits)
{
	using word = word_of<sizeof(T)>;

	if constexpr (__is_same(T, bool) || __is_same(T, yes_or_no))
		return static_cast<T>(bits & 1);
	else if constexpr (__is_same(T, flags))
		return static_cast<T>(bits & 3);
	else
		return __builtin_bit_cast(T, static_cast<word>(bits));
}

/* The ends of every width, and what lies between. */
inline constexpr u64 samples[] = {0,
				  1,
				  2,
				  0x5555555555555555,
				  0x7f7f7f7f7f7f7f7f,
				  0x7fffffffffffffff,
				  0x8000000080008080,
				  0x8000000000000000,
				  0xfffffffffffffffe,
				  ~u64{0}};

} // namespace klock::tests
