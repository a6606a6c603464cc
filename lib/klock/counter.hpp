/* SPDX-License-Identifier: MIT */
/*
 * counter - arithmetic on counters that wrap
 *
 * u8 - u8 is an int, and less than 0 where the counter has wrapped between the
 * two: these two functions bring it back to the counter. They also know how
 * narrow the counter is at the moment: the model checker can let counters wrap
 * at a few bits (lib/model, counter_bits), and what is computed from them must
 * then wrap there as well. A kernel's counter has the bits of its type, and the
 * functions cost nothing.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>

namespace klock {

/* How many steps lead from one value to the other, upwards: never negative. */
template <counter Counter>
constexpr Counter distance(Counter from, Counter to)
{
	return arch::wrapped(static_cast<Counter>(to - from));
}

/* The value after this one. */
template <counter Counter>
constexpr Counter successor(Counter of)
{
	return arch::wrapped(static_cast<Counter>(of + 1));
}

/* The narrowest counter for so many contexts at once. */
namespace detail {
template <u64 Contexts>
constexpr auto counter_for()
{
	static_assert(Contexts > 0, "a lock needs a contender");
	static_assert(Contexts <= u64{1} << 32, "over 2^32 contenders");
	if constexpr (Contexts <= u64{1} << 8)
		return u8{};
	else if constexpr (Contexts <= u64{1} << 16)
		return u16{};
	else
		return u32{};
}
} // namespace detail

} // namespace klock
