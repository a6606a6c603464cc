/* SPDX-License-Identifier: MIT */
/*
 * overflow - a queue of tickets as long as the counters allow, and longer
 */
#pragma once

#include "stage.hpp"

#include <klock/narrow_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <algorithm>
#include <utility>

namespace claims {

/* next and owner, as a lock's bytes have them. */
template <typename L>
struct counters_of;

template <unsigned Bits>
struct counters_of<klock::narrow_ticket_lock<Bits>> {
	static std::pair<u32, u32> in(const auto &bytes)
	{
		return {bytes[0] >> (8 - Bits), bytes[0] & ((1 << Bits) - 1)};
	}
};

template <>
struct counters_of<klock::ticket_lock<u8>> {
	static std::pair<u32, u32> in(const auto &bytes)
	{
		return {bytes[1], bytes[0]};
	}
};

/* One by one; the first takes the lock and stays inside. */
template <typename L>
void all_come(stage<L> &s)
{
	for (unsigned i = 0; i < s.size(); i++)
		s.step(i);
}

/*
 * From a full queue: each leaves, the next 16 look, the last of them first,
 * and the one who came next is inside. Returns how many were served so.
 */
template <typename L>
unsigned served_one_by_one(stage<L> &s)
{
	constexpr unsigned near = 16;
	unsigned served = 0;

	while (served < s.size() && s.count(place::inside) == 1 &&
	       s.where(served) == place::inside) {
		s.step(served++);
		for (unsigned i = std::min(served + near, s.size());
		     i-- > served;)
			if (s.where(i) == place::waits)
				s.step(i);
	}
	return served;
}

} // namespace claims
