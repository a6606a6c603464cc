/* SPDX-License-Identifier: MIT */
/*
 * spin_barrier - CPUs that wait for each other, again and again
 *
 *	constinit klock::spin_barrier all_are_up;
 *
 *	all_are_up.arrive_and_wait(cpus);	on each of them
 *
 * No CPU leaves before all have arrived; all then see what each wrote before.
 * It can be used for the next meeting at once: a CPU that leaves early and
 * arrives at the next meeting is not counted for this one.
 *
 * Source:      Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 3.1 (the
 *              centralised barrier); we differ: a generation that counts, in
 *              place of a sense that each CPU keeps.
 * Use when:    up to some 32 CPUs: all wait on one cache line. Many more need a
 *              dissemination barrier, which klock does not have.
 * Size:        8 bytes; zero bytes: none has arrived
 *                                      Checked: unit/spin_barrier: size
 * Lifetime:    it may be freed when all have returned: a waiter reads it once
 *              more after the last has arrived.
 * Context:     threads, each at most once a meeting. A handler that interrupts
 *              a CPU which waits here must not wait for the same barrier. All
 *              wait for a CPU that is preempted.
 *
 * State (arrived, generation):  (k, g) --the last of n arrives--> (0, g + 1)
 *
 * Ordering:
 *	O1  arrive_and_wait  arrived.fetch_add_acq_rel    pairs with O1
 *	O2  arrive_and_wait  generation.await_ne_acquire  pairs with O3
 *	O3  arrive_and_wait  generation.store_release     pairs with O2
 *                              Checked: model/spin_barrier: orders needed
 *
 *	O1 makes all that was written visible to the last, and O3 passes it on.
 *	The generation is read before the arrival is counted: read later, it
 *	might already be the next. The count is reset before the generation
 *	changes: reset later, it would lose an early arrival at the next
 *	meeting.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct spin_barrier {
	constexpr spin_barrier() = default;
	spin_barrier(const spin_barrier &) = delete;
	spin_barrier &operator=(const spin_barrier &) = delete;

	/*
	 * Waits until `expected` CPUs have arrived, including the caller. All
	 * pass the same number, at least 1. Returns true to the last of them.
	 */
	bool arrive_and_wait(u32 expected)
	{
		const u32 now = generation.load_relaxed();

		if (arrived.fetch_add_acq_rel(1) + 1 != expected) { /* O1 */
			generation.await_ne_acquire(now);	    /* O2 */
			return false;
		}
		arrived.store_relaxed(0);
		generation.store_release(now + 1); /* O3 */
		return true;
	}

	/* The number of waiters: a hint, stale on arrival. */
	[[nodiscard]] u32 waiting() const { return arrived.load_relaxed(); }

      private:
	/* arrivals at this meeting */
	atomic<u32> arrived;
	/* meetings so far; it wraps, as only its change matters */
	atomic<u32> generation;
};

} // namespace klock
