/* SPDX-License-Identifier: MIT */
/*
 * c_checked_lock - a checked lock of klock/klock.h as the C++ lock that it is
 *
 * As klock/c_lock.hpp, for debug builds.
 */
#pragma once

#include <klock/c_lock.hpp>

#include <klock/checked_lock.hpp>

namespace klock {

KLOCK_C_IS(usage, lock_usage);
KLOCK_C_IS(checked_ticket_u8, checked_lock<cpp_of<klock_ticket_u8>::type>);
KLOCK_C_IS(checked_ticket_u16, checked_lock<cpp_of<klock_ticket_u16>::type>);
KLOCK_C_IS(checked_ticket_u32, checked_lock<cpp_of<klock_ticket_u32>::type>);
KLOCK_C_IS(checked_preemptable_ticket_u8,
	   checked_lock<cpp_of<klock_preemptable_ticket_u8>::type>);
KLOCK_C_IS(checked_preemptable_ticket_u16,
	   checked_lock<cpp_of<klock_preemptable_ticket_u16>::type>);
KLOCK_C_IS(checked_narrow_ticket_2,
	   checked_lock<cpp_of<klock_narrow_ticket_2>::type>);
KLOCK_C_IS(checked_narrow_ticket_3,
	   checked_lock<cpp_of<klock_narrow_ticket_3>::type>);
KLOCK_C_IS(checked_narrow_ticket_4,
	   checked_lock<cpp_of<klock_narrow_ticket_4>::type>);
KLOCK_C_IS(checked_padded_ticket_u8,
	   checked_lock<cpp_of<klock_padded_ticket_u8>::type>);
KLOCK_C_IS(checked_padded_ticket_u16,
	   checked_lock<cpp_of<klock_padded_ticket_u16>::type>);
KLOCK_C_IS(checked_padded_ticket_u32,
	   checked_lock<cpp_of<klock_padded_ticket_u32>::type>);
KLOCK_C_IS(checked_proportional_ticket_u8,
	   checked_lock<cpp_of<klock_proportional_ticket_u8>::type>);
KLOCK_C_IS(checked_proportional_ticket_u16,
	   checked_lock<cpp_of<klock_proportional_ticket_u16>::type>);
KLOCK_C_IS(checked_proportional_ticket_u32,
	   checked_lock<cpp_of<klock_proportional_ticket_u32>::type>);
KLOCK_C_IS(checked_tas, checked_lock<cpp_of<klock_tas>::type>);
KLOCK_C_IS(checked_ttas, checked_lock<cpp_of<klock_ttas>::type>);
KLOCK_C_IS(checked_backoff_ttas,
	   checked_lock<cpp_of<klock_backoff_ttas>::type>);
KLOCK_C_IS(checked_queued_64, checked_lock<cpp_of<klock_queued_64>::type>);
KLOCK_C_IS(checked_queued_256, checked_lock<cpp_of<klock_queued_256>::type>);
KLOCK_C_IS(checked_bakery_4, checked_lock<cpp_of<klock_bakery_4>::type>);
KLOCK_C_IS(checked_bakery_8, checked_lock<cpp_of<klock_bakery_8>::type>);
KLOCK_C_IS(checked_bakery_16, checked_lock<cpp_of<klock_bakery_16>::type>);
KLOCK_C_IS(checked_bakery_32, checked_lock<cpp_of<klock_bakery_32>::type>);
KLOCK_C_IS(checked_bakery_64, checked_lock<cpp_of<klock_bakery_64>::type>);
KLOCK_C_IS(checked_timeout_8, checked_lock<cpp_of<klock_timeout_8>::type>);
KLOCK_C_IS(checked_timeout_64, checked_lock<cpp_of<klock_timeout_64>::type>);
KLOCK_C_IS(checked_mcs, checked_lock<cpp_of<klock_mcs>::type>);
KLOCK_C_IS(checked_clh, checked_lock<cpp_of<klock_clh>::type>);
KLOCK_C_IS(shared_usage, shared_usage);
KLOCK_C_IS(checked_rw_ticket_u8,
	   checked_lock<cpp_of<klock_rw_ticket_u8>::type>);
KLOCK_C_IS(checked_rw_ticket_u16,
	   checked_lock<cpp_of<klock_rw_ticket_u16>::type>);
KLOCK_C_IS(checked_phase_fair_u8,
	   checked_lock<cpp_of<klock_phase_fair_u8>::type>);
KLOCK_C_IS(checked_phase_fair_u16,
	   checked_lock<cpp_of<klock_phase_fair_u16>::type>);
KLOCK_C_IS(checked_phase_fair_u32,
	   checked_lock<cpp_of<klock_phase_fair_u32>::type>);
KLOCK_C_IS(checked_reader_8, checked_lock<cpp_of<klock_reader_8>::type>);
KLOCK_C_IS(checked_reader_64, checked_lock<cpp_of<klock_reader_64>::type>);
KLOCK_C_IS(checked_reader_256, checked_lock<cpp_of<klock_reader_256>::type>);

} // namespace klock
