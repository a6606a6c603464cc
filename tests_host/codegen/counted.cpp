/* SPDX-License-Identifier: MIT */
/*
 * counted - what a lock that counts does more, by hand and by counted_lock:
 * guards.py compares. same_NAME must be the instructions of hand_NAME, in any
 * order; near_NAME may have a few more, where it waits, and no locked one;
 * wrong_NAME must be found to differ.
 *
 * Uncontended a load and a store more, and nothing in unlock(). A reader that
 * shares its word with others has a locked one more.
 */
#include <klock/counted_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/ticket_lock.hpp>

using namespace klock;

using ticket = ticket_lock<u8>;
using counted = counted_lock<ticket, "queue">;

struct by_hand {
	ticket lock;
	atomic<usize> acquired;
};

struct read_by_hand {
	phase_fair_lock<u8> lock;
	atomic<usize> acquired;
};
using counted_routes = counted_lock<phase_fair_lock<u8>, "routes">;

struct mark_by_hand {
	reader_lock<4> lock;
	atomic<usize> acquired[4];
};
using counted_marks = counted_lock<reader_lock<4>, "marks">;

extern "C" {

[[gnu::flatten]] bool hand_counted(by_hand &its)
{
	if (!its.lock.try_lock())
		return false;
	its.acquired.store_relaxed(its.acquired.load_relaxed() + 1);
	return true;
}
[[gnu::flatten]] bool same_counted(counted &lock) { return lock.try_lock(); }

[[gnu::flatten]] bool hand_locked_count(by_hand &its)
{
	if (!its.lock.try_lock())
		return false;
	its.acquired.fetch_add_relaxed(1);
	return true;
}
[[gnu::flatten]] bool wrong_locked_count(counted &lock)
{
	return lock.try_lock();
}

[[gnu::flatten]] void hand_counted_lock(by_hand &its)
{
	its.lock.lock();
	its.acquired.store_relaxed(its.acquired.load_relaxed() + 1);
}
[[gnu::flatten]] void near_counted_lock(counted &lock) { lock.lock(); }

[[gnu::flatten]] void hand_counted_read(read_by_hand &its)
{
	its.lock.lock_shared();
	(void)its.acquired.fetch_add_relaxed(1);
}
[[gnu::flatten]] void near_counted_read(counted_routes &lock)
{
	lock.lock_shared();
}

[[gnu::flatten]] void hand_counted_mark(mark_by_hand &its, unsigned cpu)
{
	its.lock.lock_shared(cpu);
	its.acquired[cpu].store_relaxed(its.acquired[cpu].load_relaxed() + 1);
}
[[gnu::flatten]] void near_counted_mark(counted_marks &lock, unsigned cpu)
{
	lock.lock_shared(cpu);
}

void hand_counted_unlock(ticket &lock) { lock.unlock(); }
void same_counted_unlock(counted &lock) { lock.unlock(); }

} // extern "C"
