/* SPDX-License-Identifier: MIT */
/*
 * describe - what can be read off a lock from outside, for a report
 */
#include "describe.hpp"

namespace lab {

using klock::u32;
using klock::u8;

namespace {

/* The turn without that bit; tickets as far as it counts. */
void drop_held_bit(lock_state &s, klock::usize size)
{
	s.owner >>= 1;
	s.next &= (u32{1} << (8 * size - 1)) - 1;
}

} // namespace

lock_state describe(const void *lock, const lock_shape &shape)
{
	const auto *at = static_cast<const volatile u8 *>(lock);
	const ticket_places from = shape.places;
	lock_state s;

	s.size = static_cast<unsigned>(
		shape.size < sizeof(s.bytes) ? shape.size : sizeof(s.bytes));
	for (unsigned i = 0; i < s.size; i++)
		s.bytes[i] = at[i];
	if (from.nowhere())
		return s;
	s.has_tickets = true;
	for (unsigned i = 0; i < shape.ticket_size; i++) {
		s.next |= u32{at[from.next + i]} << 8 * i;
		s.owner |= u32{at[from.owner + i]} << 8 * i;
	}
	if (shape.has_held_bit)
		drop_held_bit(s, shape.ticket_size);
	return s;
}

} // namespace lab
