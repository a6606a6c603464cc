/* SPDX-License-Identifier: MIT */
/*
 * c_lock - a lock of klock/klock.h as the C++ lock that it is
 *
 *	extern "C" struct klock_ticket_u8 log_lock;	defined in C
 *
 *	klock::irq_guard held(klock::as_cpp(log_lock));
 *
 * So a kernel's C files and its C++ files share one lock. Both are the same
 * bytes: size and alignment are compared here, the members' places in
 * tests_host/embed/c/layout.cpp. may_alias in klock.h lets C initialise what
 * C++ reads, link-time optimization or not.
 *
 * Include paths: lib/c, lib, and the port's.
 */
#pragma once

#include <klock/klock.h>

#include <klock/bakery_lock.hpp>
#include <klock/barrier.hpp>
#include <klock/clh_lock.hpp>
#include <klock/completion.hpp>
#include <klock/condition.hpp>
#include <klock/inheriting_mutex.hpp>
#include <klock/irq_depth.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/once.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/recursive_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/semaphore.hpp>
#include <klock/seq_count.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/ttas_lock.hpp>
#include <klock/wait_queue.hpp>

namespace klock {

static_assert(klock_cache_line == cache_line,
	      "klock/verbs.h: another cache line than the port's");

/* The C++ type whose memory a C structure is; cpp_of<...>::type. */
template <typename C>
struct cpp_of;

#define KLOCK_C_IS(c, ...)                                                     \
	template <>                                                            \
	struct cpp_of<klock_##c> {                                             \
		using type = __VA_ARGS__;                                      \
		static_assert(sizeof(klock_##c) == sizeof(type));              \
		static_assert(alignof(klock_##c) == alignof(type));            \
	}

KLOCK_C_IS(ticket_u8, ticket_lock<u8>);
KLOCK_C_IS(ticket_u16, ticket_lock<u16>);
KLOCK_C_IS(ticket_u32, ticket_lock<u32>);
KLOCK_C_IS(preemptable_ticket_u8, preemptable_ticket_lock<u8>);
KLOCK_C_IS(preemptable_ticket_u16, preemptable_ticket_lock<u16>);
KLOCK_C_IS(narrow_ticket_2, narrow_ticket_lock<2>);
KLOCK_C_IS(narrow_ticket_3, narrow_ticket_lock<3>);
KLOCK_C_IS(narrow_ticket_4, narrow_ticket_lock<4>);
KLOCK_C_IS(padded_ticket_u8, padded_ticket_lock<u8>);
KLOCK_C_IS(padded_ticket_u16, padded_ticket_lock<u16>);
KLOCK_C_IS(padded_ticket_u32, padded_ticket_lock<u32>);
KLOCK_C_IS(proportional_ticket_u8, proportional_ticket_lock<u8>);
KLOCK_C_IS(proportional_ticket_u16, proportional_ticket_lock<u16>);
KLOCK_C_IS(proportional_ticket_u32, proportional_ticket_lock<u32>);
KLOCK_C_IS(recursive_ticket_u8, recursive_lock<ticket_lock<u8>>);
KLOCK_C_IS(recursive_ticket_u16, recursive_lock<ticket_lock<u16>>);
KLOCK_C_IS(recursive_preemptable_ticket_u8,
	   recursive_lock<preemptable_ticket_lock<u8>>);
KLOCK_C_IS(recursive_preemptable_ticket_u16,
	   recursive_lock<preemptable_ticket_lock<u16>>);
KLOCK_C_IS(tas, tas_lock);
KLOCK_C_IS(tas_u32, sized_tas_lock<u32>);
KLOCK_C_IS(ttas, ttas_lock);
KLOCK_C_IS(ttas_u32, sized_ttas_lock<u32>);
KLOCK_C_IS(backoff_ttas, backoff_ttas_lock);
KLOCK_C_IS(mcs, mcs_lock);
KLOCK_C_IS(mcs_node, mcs_node);
KLOCK_C_IS(clh, clh_lock);
KLOCK_C_IS(clh_node, clh_node);
KLOCK_C_IS(queued_64, queued_lock<64>);
KLOCK_C_IS(queued_256, queued_lock<256>);
KLOCK_C_IS(bakery_4, bakery_lock<4>);
KLOCK_C_IS(bakery_8, bakery_lock<8>);
KLOCK_C_IS(bakery_16, bakery_lock<16>);
KLOCK_C_IS(bakery_32, bakery_lock<32>);
KLOCK_C_IS(bakery_64, bakery_lock<64>);
KLOCK_C_IS(timeout_8, timeout_lock<8>);
KLOCK_C_IS(timeout_64, timeout_lock<64>);
KLOCK_C_IS(rw_ticket_u8, rw_ticket_lock<u8>);
KLOCK_C_IS(rw_ticket_u16, rw_ticket_lock<u16>);
KLOCK_C_IS(phase_fair_u8, phase_fair_lock<u8>);
KLOCK_C_IS(phase_fair_u16, phase_fair_lock<u16>);
KLOCK_C_IS(reader_8, reader_lock<8>);
KLOCK_C_IS(reader_64, reader_lock<64>);
KLOCK_C_IS(reader_256, reader_lock<256>);
KLOCK_C_IS(seq_count, seq_count);
KLOCK_C_IS(once, once);
KLOCK_C_IS(barrier, spin_barrier);
KLOCK_C_IS(irq_depth, irq_depth);
KLOCK_C_IS(mutex, mutex);
KLOCK_C_IS(shared_mutex, shared_mutex);
KLOCK_C_IS(inheriting_mutex, inheriting_mutex);
KLOCK_C_IS(inheriting_thread, inheriting_thread);
KLOCK_C_IS(semaphore, semaphore);
KLOCK_C_IS(completion, completion);
KLOCK_C_IS(condition, condition);
KLOCK_C_IS(wait_queue, wait_queue);
KLOCK_C_IS(sleeper, detail::sleeper);

template <typename C>
auto &as_cpp(C &lock)
{
	return reinterpret_cast<typename cpp_of<C>::type &>(lock);
}

template <typename C>
const auto &as_cpp(const C &lock)
{
	return as_cpp(const_cast<C &>(lock));
}

} // namespace klock
