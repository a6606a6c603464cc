/* SPDX-License-Identifier: MIT */
/*
 * wrong - locks that are wrong, each in another way, for wrong.py to find
 *
 * Two or three of them are right, and must not be called wrong.
 */
#pragma once

#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

namespace klock {

/* Right: what the others are made from. */
struct swap_lock {
	atomic<u8> taken;

	void lock()
	{
		while (taken.exchange_acquire(1))
			arch::cpu_relax();
	}
	void unlock() { taken.store_release(0); }
};

struct no_acquire : swap_lock {
	void lock()
	{
		while (taken.exchange_relaxed(1))
			arch::cpu_relax();
	}
};

struct no_release : swap_lock {
	void unlock() { taken.store_relaxed(0); }
};

/* Orders what was read before, not what was written. */
struct other_fence : swap_lock {
	void unlock()
	{
		fence_acquire();
		taken.store_relaxed(0);
	}
};

struct no_unlock : swap_lock {
	void unlock() {}
};

/* The next holder may have freed it. */
struct reads_after : swap_lock {
	void unlock()
	{
		taken.store_release(0);
		if (taken.load_relaxed() == 7)
			taken.store_relaxed(0);
	}
};

/* Clears three bytes behind the lock. */
struct clears_more : swap_lock {
	void unlock()
	{
		__atomic_store_n(reinterpret_cast<u32 *>(&taken), 0,
				 __ATOMIC_RELEASE);
	}
};

struct try_not_atomic : swap_lock {
	bool try_lock()
	{
		if (taken.load_acquire())
			return false;
		taken.store_relaxed(1);
		return true;
	}
};

/* Right: the pause after a failed look grows. */
struct pauses : swap_lock {
	void lock()
	{
		for (u32 wait = 1; taken.exchange_acquire(1); wait *= 2) {
			for (u32 i = 0; i < wait; i++)
				arch::cpu_relax();
		}
	}
};

/* Right, and what the next ones are made from. */
struct two_counters {
	atomic<u32> owner, next;

	void lock() { owner.await_eq_acquire(next.fetch_add_relaxed(1)); }
	void unlock() { owner.store_release(owner.load_relaxed() + 1); }
};

struct take_not_atomic : two_counters {
	void lock()
	{
		const u32 mine = next.load_relaxed();

		next.store_relaxed(mine + 1);
		owner.await_eq_acquire(mine);
	}
};

/* Passes over a waiter, which pauses longer and longer. */
struct passes_over : two_counters {
	void lock()
	{
		const u32 mine = next.fetch_add_relaxed(1);

		for (u32 wait = 1; owner.load_acquire() != mine; wait++) {
			for (u32 i = 0; i < wait; i++)
				arch::cpu_relax();
		}
	}
	void unlock()
	{
		const u32 now = owner.load_relaxed();

		if (next.load_relaxed() > now + 1)
			owner.store_release(now + 2);
		else
			owner.store_release(now + 1);
	}
};

/* Uses what it read before its turn. */
struct reads_before : two_counters {
	atomic<u32> served;

	[[gnu::optimize("Os"), gnu::noinline]] void lock()
	{
		const u32 mine = next.fetch_add_acq_rel(1);
		u32 now = owner.load_acquire();
		const u32 before = served.load_relaxed();

		while (now != mine) {
			arch::cpu_relax();
			now = owner.load_acquire();
		}
		served.store_relaxed(before + 1);
	}
	void unlock() { owner.store_release(served.load_relaxed()); }
};

/* Two bytes of a word: owner, next. */
struct two_bytes {
	atomic_pair<u8> tickets;
	static constexpr field<0> owner{};
	static constexpr field<1> next{};

	void lock()
	{
		const u8 mine = tickets.fetch_add_acq_rel(next, 1);

		tickets.await_eq_acquire(owner, mine);
	}
	void unlock()
	{
		const u8 now = tickets.load_relaxed(owner);

		tickets.store_release(owner, static_cast<u8>(now + 1));
	}
};

/* Its store writes the byte beside it, too, as it was a moment ago. */
struct stores_both : two_bytes {
	void unlock()
	{
		const u8 now = tickets.load_relaxed(owner);
		const u8 last = tickets.load_relaxed(next);
		const auto both =
			static_cast<u16>(static_cast<u8>(now + 1) | last << 8);

		__atomic_store_n(reinterpret_cast<u16 *>(&tickets), both,
				 __ATOMIC_RELEASE);
	}
};

struct no_wrap : two_bytes {
	void lock()
	{
		const u8 mine = tickets.fetch_add_acq_rel(next, 1);

		tickets.await_acquire(owner,
				      [mine](u8 now) { return now >= mine; });
	}
};

/* Somebody may come and go between the look and the add. */
struct try_adds : two_bytes {
	bool try_lock()
	{
		if (tickets.load_acquire(owner) != tickets.load_relaxed(next))
			return false;
		tickets.fetch_add_acq_rel(next, 1);
		return true;
	}
};

/* Readers count, and look for a writer; the writer does the reverse. */
struct byte_rw {
	atomic<u8> taken, writer, readers;

	void lock()
	{
		while (taken.exchange_acquire(1))
			arch::cpu_relax();
		writer.store_seq_cst(1);
		while (readers.load_seq_cst())
			arch::cpu_relax();
	}
	void unlock()
	{
		writer.store_release(0);
		taken.store_release(0);
	}
	void lock_shared()
	{
		for (;;) {
			readers.fetch_add_seq_cst(1);
			if (!writer.load_seq_cst())
				return;
			readers.fetch_sub_release(1);
			writer.await_eq_relaxed(0);
		}
	}
	void unlock_shared() { readers.fetch_sub_release(1); }
};

struct writer_passes : byte_rw {
	void lock()
	{
		while (taken.exchange_acquire(1))
			arch::cpu_relax();
		writer.store_relaxed(1);
		while (readers.load_acquire())
			arch::cpu_relax();
	}
};

struct reader_leaves_early : byte_rw {
	void unlock_shared() { readers.fetch_sub_relaxed(1); }
};

#if defined(__aarch64__)
/* A change between the look and the mark wakes nobody. */
struct marks_late : two_counters {
	void lock()
	{
		const u32 mine = next.fetch_add_relaxed(1);
		u32 unused;

		while (owner.load_acquire() != mine)
			asm volatile("ldxr %w0, %1\n\twfe"
				     : "=&r"(unused)
				     : "Q"(owner)
				     : "memory");
	}
};
#else
using marks_late = two_counters;
#endif

/* -- Locks of klock, with something wrong in a member -- */

/* Two find it free, and both take it. */
struct looks_first {
	void lock()
	{
		taken.await_eq_acquire(false);
		taken.store_relaxed(true);
	}
	void unlock() { taken.store_release(false); }

	atomic<bool> taken;
};

/* The holder of the ticket in between waits for ever. */
struct skips_one : ticket_lock<u8> {
	void unlock()
	{
		ticket_lock::unlock();
		ticket_lock::unlock();
	}
};

/* The lock may be gone by then. */
struct writes_late : ticket_lock<u8> {
	void unlock()
	{
		ticket_lock::unlock();
		free_since.store_relaxed(1);
	}

	atomic<u8> free_since;
};

/* A writer does not wait for readers that it cannot see. */
struct not_counted : rw_ticket_lock<u8> {
	void lock_shared()
	{
		rw_ticket_lock::lock_shared();
		rw_ticket_lock::unlock_shared();
	}
	void unlock_shared() {}
};

/* The CPU does not watch the address that it loads: no store is an event. */
struct not_watched : ticket_lock<u8> {
	void lock()
	{
#ifdef __aarch64__
		while (is_locked())
			asm volatile("wfe" ::: "memory");
#endif
		ticket_lock::lock();
	}
};

/* Nobody has said where it leads to. */
struct leads_nowhere : ticket_lock<u8> {
	void unlock()
	{
		*last.load_relaxed() = 0;
		ticket_lock::unlock();
	}

	atomic<u64 *> last;
};

struct never_free : ticket_lock<u8> {
	[[nodiscard]] bool try_lock() { return false; }
};

/* Clears what is behind it, too. */
struct clears_behind : ticket_lock<u8> {
	void unlock()
	{
		reinterpret_cast<atomic<u16> *>(this + 1)->store_relaxed(0);
		ticket_lock::unlock();
	}
};

} // namespace klock
