/* SPDX-License-Identifier: MIT */
/*
 * counter - arithmetic on counters that wrap
 *
 * u8 - u8 is an int, and less than 0 where the counter has wrapped between the
 * two: these functions bring it back to the counter. They also know how
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

/* The value so many steps on. */
template <counter Counter>
constexpr Counter advanced(Counter of, Counter steps)
{
	return arch::wrapped(static_cast<Counter>(of + steps));
}

/* The value after this one. */
template <counter Counter>
constexpr Counter successor(Counter of)
{
	return advanced(of, Counter{1});
}

/* -- Two counts in one counter: an upper half and a lower half of its bits --
 */

/*
 * One, in the upper half. Not as a constant's value: a constant knows of no
 * checker.
 */
template <counter Counter>
constexpr Counter upper_one()
{
	constexpr Counter all = static_cast<Counter>(~Counter{});
	u64 one = u64{1} << 4 * sizeof(Counter);

	/* Under a checker's counters of few bits. */
	if (arch::wrapped(all) != all)
		for (one = 1; one * one <= arch::wrapped(all);)
			one *= 2;
	return static_cast<Counter>(one);
}

/* Whether the lower halves of two are the same. */
template <counter Counter>
constexpr bool same_lower(Counter a, Counter b)
{
	return ((a ^ b) & (upper_one<Counter>() - 1)) == 0;
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
