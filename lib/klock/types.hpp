/* SPDX-License-Identifier: MIT */
/*
 * types - the integers, the memory orders and the name of a place in the code
 *
 * Everything else in klock includes this; it includes only the two headers
 * that every freestanding compiler brings along, and the port's first word: an
 * error, where the port does not fit.
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

/* What a failed compare_exchange orders: its success order, less the store. */
constexpr order without_store(order o)
{
	if (o == order::release)
		return order::relaxed;
	return o == order::acq_rel ? order::acquire : o;
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
 * Where a function was called from: the last argument of functions that report
 * it, with the default {__builtin_FILE(), __builtin_LINE()}.
 */
struct call_site {
	const char *file;
	int line;
};

/* Which half of a pair an operation means. */
enum class half : int { first, second };

} // namespace klock
