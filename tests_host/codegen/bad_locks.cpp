/* SPDX-License-Identifier: MIT */
/*
 * bad_locks - locks with a fault that object code shows: selftest.py's list
 */
#include "probe.hpp"

#include <klock/cpu.hpp>

namespace klock {

/* The common base: a ticket lock of two 8-bit counters. */
struct counters {
	static constexpr u64 max_contenders = 256;
	atomic<u8> next;
	atomic<u8> owner;

	u8 take_ticket() { return next.fetch_add_relaxed(1); }
	void serve_next()
	{
		owner.store_release(static_cast<u8>(owner.load_relaxed() + 1));
	}
};

struct without_pause : counters {
	void lock()
	{
		const u8 mine = take_ticket();

		while (owner.load_acquire() != mine)
			;
	}
	void unlock() { serve_next(); }
};

struct pause_outside_the_loop : counters {
	void lock()
	{
		const u8 mine = take_ticket();

		cpu_relax();
		while (owner.load_acquire() != mine)
			;
	}
	void unlock() { serve_next(); }
};

struct take_by_cmpxchg_loop : counters {
	void lock()
	{
		u8 mine = next.load_relaxed();

		while (!next.compare_exchange_relaxed(
			mine, static_cast<u8>(mine + 1)))
			;
		owner.await_eq_acquire(mine);
	}
	void unlock() { serve_next(); }
};

struct locked_unlock : counters {
	void lock() { owner.await_eq_acquire(take_ticket()); }
	void unlock() { owner.fetch_add_release(1); }
};

struct exchanging_unlock : counters {
	void lock() { owner.await_eq_acquire(take_ticket()); }
	void unlock()
	{
		owner.store_seq_cst(static_cast<u8>(owner.load_relaxed() + 1));
	}
};

struct fat : counters {
	[[gnu::noinline]] void wait(u8 mine) { owner.await_eq_acquire(mine); }
	void lock()
	{
		const u8 mine = take_ticket();

		if (owner.load_acquire() != mine)
			wait(mine);
	}
	void unlock() { serve_next(); }
};

/* Looks at both counters at once, where each is added to and stored alone. */
struct looks_at_both {
	static constexpr u64 max_contenders = 256;
	union {
		counters each;
		atomic<u16> both;
	};

	constexpr looks_at_both() : each() {}
	void lock()
	{
		const u8 mine = each.take_ticket();

		both.await_acquire(
			[mine](u16 now) { return now >> 8 == mine; });
	}
	void unlock() { each.serve_next(); }
};

} // namespace klock

using klock::selftest::service;
using klock::selftest::subject;
using locks = klock::selftest::list<
	subject<"good", klock::ticket_lock<klock::u8>, service::fifo>,
	subject<"unknown", klock::ticket_lock<klock::u8>, service::fifo>,
	subject<"without_pause", klock::without_pause, service::fifo>,
	subject<"pause_outside_the_loop", klock::pause_outside_the_loop,
		service::fifo>,
	subject<"take_by_cmpxchg_loop", klock::take_by_cmpxchg_loop,
		service::fifo>,
	subject<"locked_unlock", klock::locked_unlock, service::fifo>,
	subject<"exchanging_unlock", klock::exchanging_unlock, service::fifo>,
	subject<"fat", klock::fat, service::fifo>,
	subject<"looks_at_both", klock::looks_at_both, service::fifo>>;

extern "C" [[gnu::used,
	     gnu::section(".klock_names")]] constexpr auto klock_codegen_names =
	klock::codegen::names_of(locks{});

extern "C" void klock_codegen_all() { klock::codegen::keep_all<0>(locks{}); }
