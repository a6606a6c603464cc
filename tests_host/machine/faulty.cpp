/* SPDX-License-Identifier: MIT */
/*
 * Locks with a fault each, and a section of each: properties.py has what must
 * be found.
 */
#include <klock/rw_ticket_lock.hpp>
#include <klock/ticket_lock.hpp>

using namespace klock;

namespace {

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

/* What it loads the CPU does not watch: no store to it is an event. */
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

template <typename L>
u64 add(L &l, u64 &x)
{
	l.lock();
	x = x + 1;
	l.unlock();
	return 0;
}

} // namespace

extern "C" {

u64 lock_of_looks_first(looks_first &l, u64 &x) { return add(l, x); }
u64 lock_of_skips_one(skips_one &l, u64 &x) { return add(l, x); }
u64 lock_of_writes_late(writes_late &l, u64 &x) { return add(l, x); }
u64 lock_of_not_watched(not_watched &l, u64 &x) { return add(l, x); }
u64 lock_of_leads_nowhere(leads_nowhere &l, u64 &x) { return add(l, x); }
u64 lock_of_never_free(never_free &l, u64 &x) { return add(l, x); }

u64 try_of_never_free(never_free &l, u64 &x)
{
	if (!l.try_lock())
		return 0;
	x = x + 1;
	l.unlock();
	return 0;
}

u64 write_of_not_counted(not_counted &l, u64 &x, u64 &y)
{
	l.lock();
	x = x + 1;
	y = y + 1;
	l.unlock();
	return 0;
}

u64 read_of_not_counted(not_counted &l, u64 &x, u64 &y)
{
	l.lock_shared();
	const u64 a = x;
	const u64 b = y;
	l.unlock_shared();
	return a ^ b;
}

} // extern "C"
