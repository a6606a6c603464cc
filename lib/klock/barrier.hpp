/* SPDX-License-Identifier: MIT */
/*
 * spin_barrier - CPUs that wait for each other, again and again
 *
 *	constinit klock::spin_barrier all_are_up;
 *
 *	all_are_up.arrive_and_wait(cpus);	on each of them
 *
 * None leaves before all have arrived; what each wrote before, all see after.
 * It is free for the next meeting at once: a CPU that leaves early and arrives
 * at the next cannot be counted for this one.
 *
 * Source:      Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 3.1 (the
 *              centralised barrier); we differ: a generation that counts, in
 *              place of a sense that each CPU keeps.
 * Use when:    up to some 32 CPUs: all wait on one line. Many more want a
 *              dissemination barrier, which klock has not.
 * Size:        8 bytes; zero bytes: none has arrived
 *                                      Checked: unit/spin_barrier: size
 * Lifetime:    it may be freed when all have returned: who waits reads it once
 *              more after the last has arrived.
 * Context:     threads, each at most once a meeting; a handler over a CPU that
 *              waits here must not wait for the same barrier. All wait for a
 *              preempted one.
 *
 * State (arrived, generation):  (k, g) --the last of n arrives--> (0, g + 1)
 *
 * Ordering:
 *	O1  arrive_and_wait  arrived.fetch_add_acq_rel    pairs with O1
 *	O2  arrive_and_wait  generation.await_ne_acquire  pairs with O3
 *	O3  arrive_and_wait  generation.store_release     pairs with O2
 *                              Checked: model/spin_barrier: orders needed
 *
 *	O1 collects for the last what all have written, and O3 hands it on. The
 *	generation is read before the arrival is counted: after it, it may be
 *	the next one already. The count is back at 0 before the generation
 *	changes: after it, an early arrival at the next meeting would be lost.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct spin_barrier {
	constexpr spin_barrier() = default;

	/*
	 * Waits until `expected` have arrived, the caller among them: all pass
	 * the same number, at least 1. True for one of them, the last.
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

	/* How many wait: a hint, stale on arrival. */
	[[nodiscard]] u32 waiting() const { return arrived.load_relaxed(); }

      private:
	/* At this meeting, so far. */
	atomic<u32> arrived;
	/* Meetings so far; it wraps, and only its change is asked for. */
	atomic<u32> generation;
};

} // namespace klock
