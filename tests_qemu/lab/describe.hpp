/* SPDX-License-Identifier: MIT */
/*
 * describe - what can be read off a lock from outside, for a report
 */
#pragma once

#include <klock/padded_ticket_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/types.hpp>

namespace lab {

/* The tickets of a lock that has some; else the lock's first bytes. */
struct lock_state {
	bool has_tickets = false;
	klock::u32 next = 0;  /* the next ticket to be taken */
	klock::u32 owner = 0; /* the one that is served */
	klock::u8 bytes[8] = {};
	unsigned size = 0;
};

template <typename L>
inline constexpr klock::usize ticket_distance = 0;
template <typename Counter>
inline constexpr klock::usize
	ticket_distance<klock::ticket_lock<Counter>> = sizeof(Counter);
template <typename Counter>
inline constexpr klock::usize
	ticket_distance<klock::proportional_ticket_lock<Counter>> =
		sizeof(Counter);
template <typename Counter>
inline constexpr klock::usize
	ticket_distance<klock::padded_ticket_lock<Counter>> = klock::cache_line;

template <typename L>
inline constexpr klock::usize ticket_size = sizeof(klock::u32);
template <template <typename> typename L, typename Counter>
inline constexpr klock::usize ticket_size<L<Counter>> = sizeof(Counter);

/* Both counters lie at the lock's front: next, then owner. */
template <typename L>
lock_state describe(const L &lock)
{
	const klock::u8 *at = reinterpret_cast<const klock::u8 *>(&lock);
	lock_state s;

	s.size = sizeof(L) < sizeof(s.bytes)
			 ? static_cast<unsigned>(sizeof(L))
			 : static_cast<unsigned>(sizeof(s.bytes));
	for (unsigned i = 0; i < s.size; i++)
		s.bytes[i] = const_cast<const volatile klock::u8 *>(at)[i];
	if constexpr (ticket_distance<L> != 0) {
		s.has_tickets = true;
		for (unsigned i = 0; i < ticket_size<L>; i++) {
			s.next |= klock::u32{at[i]} << 8 * i;
			s.owner |= klock::u32{at[ticket_distance<L> + i]}
				   << 8 * i;
		}
	}
	return s;
}

} // namespace lab
