/* SPDX-License-Identifier: MIT */
/*
 * watched - an embed kernel as it stands, but with all of its locks checked and
 * their order learned: it must stay silent
 *
 * In front of the kernel's source, which then is watched_main, a name of its
 * own for each. Its locks' names become those of checked ones, a class each;
 * and its handler says what it is, as a kernel that checks does in its entry
 * code.
 */
#pragma once

#include "../../lab/context.hpp"

#include <boot/kernel.hpp>

#include <klock/checked_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

namespace klock {

template <u64 Contenders>
using watched_ticket_lock_for =
	checked_lock<ticket_lock_for<Contenders>, "log">;
template <u64 Contenders>
using watched_rw_ticket_lock_for =
	checked_lock<rw_ticket_lock_for<Contenders>, "routes">;
template <counter Counter>
using watched_ticket_lock = checked_lock<ticket_lock<Counter>, "pages">;
template <counter Counter>
using watched_preemptable_ticket_lock =
	checked_lock<preemptable_ticket_lock<Counter>, "pages">;
using watched_backoff_ttas_lock = checked_lock<backoff_ttas_lock, "pages">;

} // namespace klock

namespace boot {

inline constinit interrupt_handler watched_handler = nullptr;

inline void set_watched_handler(u8 vector, interrupt_handler handler)
{
	watched_handler = handler;
	set_interrupt_handler(vector, [](interrupt_frame &frame) {
		const lab::in_handler here(this_cpu(),
					   klock::context::interrupt);
		watched_handler(frame);
	});
}

} // namespace boot

#define ticket_lock_for watched_ticket_lock_for
#define rw_ticket_lock_for watched_rw_ticket_lock_for
#define ticket_lock watched_ticket_lock
#define preemptable_ticket_lock watched_preemptable_ticket_lock
#define backoff_ttas_lock watched_backoff_ttas_lock
#define set_interrupt_handler set_watched_handler
#define payload_main watched_main

int watched_main();
