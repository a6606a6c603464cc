/* SPDX-License-Identifier: MIT */
/*
 * declared_order - an order of locks that a kernel declares: order_calls.hpp
 */
#pragma once

#include <klock/types.hpp>

namespace klock {

/* Of one lock's name and another's, or one's rank. */
struct declared_order {
	const char *first;
	const char *second; /* null: first has a rank */
	u32 rank;
};

/* Of two locks that have ranks, that of the lower one is taken first. */
template <u32 Rank>
constexpr declared_order rank(const char *name)
{
	static_assert(Rank != 0, "klock::rank: from 1 on");
	return {name, nullptr, Rank};
}

/* Of two locks: the first one is taken first. */
constexpr declared_order before(const char *first, const char *second)
{
	return {first, second, 0};
}

} // namespace klock
