/* SPDX-License-Identifier: MIT */
/*
 * counted - what a lock that counts does more, by hand and by counted_lock:
 * guards.py compares. same_NAME must be the instructions of hand_NAME, in any
 * order; wrong_NAME must be found to differ.
 *
 * Uncontended a load and a store more, and nothing in unlock().
 */
#include <klock/counted_lock.hpp>
#include <klock/ticket_lock.hpp>

using namespace klock;

using ticket = ticket_lock<u8>;
using counted = counted_lock<ticket, "queue">;

struct by_hand {
	ticket lock;
	atomic<usize> acquired;
};

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

void hand_counted_unlock(ticket &lock) { lock.unlock(); }
void same_counted_unlock(counted &lock) { lock.unlock(); }

} // extern "C"
