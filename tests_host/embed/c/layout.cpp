/* SPDX-License-Identifier: MIT */
/*
 * Each member of klock.h's structures lies where the C++ lock has its own.
 *
 * Only compiled, with -fno-access-control: the members are private.
 */
#include <klock/klock.h>

#include <klock/clh_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

#define AT(type, member) __builtin_offsetof(type, member)

using namespace klock;

static_assert(AT(klock_mcs, klock_tail) == AT(mcs_lock, tail));
static_assert(AT(klock_mcs_node, klock_next) == AT(mcs_node, next));
static_assert(AT(klock_mcs_node, klock_waits) == AT(mcs_node, waits));
static_assert(AT(klock_clh, klock_tail) == AT(clh_lock, tail));
static_assert(AT(klock_clh, klock_first) == AT(clh_lock, first));
static_assert(AT(klock_clh_cell, klock_busy) == AT(clh_cell, busy));
static_assert(AT(klock_clh_node, klock_first) == AT(clh_node, first));
static_assert(AT(klock_clh_node, klock_mine) == AT(clh_node, mine));
static_assert(AT(klock_clh_node, klock_predecessor) == AT(clh_node, queued));
static_assert(AT(klock_tas, klock_taken) == AT(tas_lock, taken));
static_assert(AT(klock_ttas, klock_taken) == AT(ttas_lock, taken));
static_assert(AT(klock_backoff_ttas, klock_taken) ==
	      AT(backoff_ttas_lock, inner));

/* A pair's first half is at the lower address (arch/CONTRACT.md). */
template <typename C, typename Counter>
constexpr bool same_pair()
{
	using lock = ticket_lock<Counter>;
	using cells = decltype(arch::pair_cell<Counter>::halves);

	return AT(C, klock_next) ==
		       AT(lock, tickets) + int(lock::next) * sizeof(Counter) &&
	       AT(C, klock_owner) ==
		       AT(lock, tickets) + int(lock::owner) * sizeof(Counter) &&
	       sizeof(cells) == sizeof(C);
}
static_assert(same_pair<klock_ticket_u8, u8>());
static_assert(same_pair<klock_ticket_u16, u16>());
static_assert(same_pair<klock_ticket_u32, u32>());
