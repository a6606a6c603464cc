/* SPDX-License-Identifier: MIT */
/*
 * c_counted_lock - a counted lock of klock/klock.h as the C++ lock that it is
 *
 * As klock/c_lock.hpp.
 */
#pragma once

#include <klock/c_lock.hpp>

#include <klock/counted_lock.hpp>

namespace klock {

KLOCK_C_IS(counted_ticket_u8, counted_lock<ticket_lock<u8>>);
KLOCK_C_IS(counted_ticket_u16, counted_lock<ticket_lock<u16>>);
KLOCK_C_IS(counted_ticket_u32, counted_lock<ticket_lock<u32>>);
KLOCK_C_IS(counted_preemptable_ticket_u8,
	   counted_lock<preemptable_ticket_lock<u8>>);
KLOCK_C_IS(counted_preemptable_ticket_u16,
	   counted_lock<preemptable_ticket_lock<u16>>);
KLOCK_C_IS(counted_tas, counted_lock<tas_lock>);
KLOCK_C_IS(counted_backoff_ttas, counted_lock<backoff_ttas_lock>);
KLOCK_C_IS(counted_queued_64, counted_lock<queued_lock<64>>);
KLOCK_C_IS(counted_queued_256, counted_lock<queued_lock<256>>);
KLOCK_C_IS(counted_rw_ticket_u8, counted_lock<rw_ticket_lock<u8>>);
KLOCK_C_IS(counted_rw_ticket_u16, counted_lock<rw_ticket_lock<u16>>);

} // namespace klock
