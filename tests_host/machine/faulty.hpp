/* SPDX-License-Identifier: MIT */
/*
 * faulty - locks with a fault each: properties.py has what must be found
 */
#pragma once

#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

namespace klock {

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
struct clears_more : ticket_lock<u8> {
	void unlock()
	{
		reinterpret_cast<atomic<u16> *>(this + 1)->store_relaxed(0);
		ticket_lock::unlock();
	}
};

} // namespace klock
