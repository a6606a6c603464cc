/* SPDX-License-Identifier: MIT */
/*
 * describe - what can be read off a lock from outside, for a report
 */
#pragma once

#include <klock/padded_ticket_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
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

/* Where a lock has its counters; nowhere: it has none. */
struct ticket_places {
	klock::usize next, owner;

	constexpr bool nowhere() const { return next == owner; }
};

template <typename L>
inline constexpr ticket_places places_in{0, 0};
template <typename Counter>
inline constexpr ticket_places places_in<klock::ticket_lock<Counter>>{
	sizeof(Counter), 0};
template <typename Counter>
inline constexpr ticket_places
	places_in<klock::proportional_ticket_lock<Counter>>{sizeof(Counter), 0};
template <typename Counter>
inline constexpr ticket_places places_in<klock::padded_ticket_lock<Counter>>{
	0, klock::cache_line};
template <typename Counter, klock::u32 Patience>
inline constexpr ticket_places
	places_in<klock::preemptable_ticket_lock<Counter, Patience>>{
		0, sizeof(Counter)};

/* Whether the turn counts by twos: below it is a bit, of who holds. */
template <typename L>
inline constexpr bool has_held_bit = false;
template <typename Counter, klock::u32 Patience>
inline constexpr bool
	has_held_bit<klock::preemptable_ticket_lock<Counter, Patience>> = true;

template <typename L>
inline constexpr klock::usize ticket_size = sizeof(klock::u32);
template <template <typename> typename L, typename Counter>
	requires(!has_held_bit<L<Counter>>)
inline constexpr klock::usize ticket_size<L<Counter>> = sizeof(Counter);
template <typename Counter, klock::u32 Patience>
inline constexpr klock::usize
	ticket_size<klock::preemptable_ticket_lock<Counter, Patience>> =
		sizeof(Counter);

/* Of a lock's type, what describe() wants to know. */
struct lock_shape {
	klock::usize size;
	ticket_places places;
	klock::usize ticket_size;
	bool has_held_bit;
};

lock_state describe(const void *lock, const lock_shape &shape);

template <typename L>
lock_state describe(const L &lock)
{
	static constexpr lock_shape shape = {sizeof(L), places_in<L>,
					     ticket_size<L>, has_held_bit<L>};

	return describe(&lock, shape);
}

} // namespace lab
