/* SPDX-License-Identifier: MIT */
/*
 * c_locks - some of klock's locks as a kernel in C has them: each lock() and
 * unlock() is a call of a function, as lib/c is not inlined
 */
#pragma once

#include <klock/queue.h>
#include <klock/tas.h>
#include <klock/ticket.h>

#include <klock/selftest/locks.hpp>

namespace bench {

/* Lock is a struct of klock/klock.h, behind these two of its functions. */
template <typename Lock, void (*Take)(Lock *), void (*Leave)(Lock *),
	  klock::u64 Contenders>
struct c_lock {
	static constexpr klock::u64 max_contenders = Contenders;

	void lock() { Take(&at); }
	void unlock() { Leave(&at); }
	Lock at = {};
};

struct c_mcs_lock {
	using node = klock_mcs_node;
	static constexpr bool node_may_live_on_stack = true;
	static constexpr klock::u64 max_contenders = ~klock::u64{0};

	void lock(node &mine) { klock_mcs_lock(&at, &mine); }
	void unlock(node &mine) { klock_mcs_unlock(&at, &mine); }
	klock_mcs at = {};
};

using klock::selftest::service;
using klock::selftest::subject;

using c_locks = klock::selftest::list<
	subject<"ticket_lock<u8> in C",
		c_lock<klock_ticket_u8, klock_ticket_u8_lock,
		       klock_ticket_u8_unlock, KLOCK_TICKET_U8_CONTENDERS>,
		service::fifo>,
	subject<"preemptable_ticket_lock<u8> in C",
		c_lock<klock_preemptable_ticket_u8,
		       klock_preemptable_ticket_u8_lock,
		       klock_preemptable_ticket_u8_unlock,
		       KLOCK_PREEMPTABLE_TICKET_U8_CONTENDERS>,
		service::fifo_if_all_run>,
	subject<"tas_lock in C",
		c_lock<klock_tas, klock_tas_lock, klock_tas_unlock,
		       ~klock::u64{0}>,
		service::none>,
	subject<"sized_tas_lock<u32> in C",
		c_lock<klock_tas_u32, klock_tas_u32_lock, klock_tas_u32_unlock,
		       ~klock::u64{0}>,
		service::none>,
	subject<"mcs_lock in C", c_mcs_lock, service::fifo>>;

} // namespace bench
