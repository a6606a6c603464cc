/* SPDX-License-Identifier: MIT */
/*
 * mcs_lock - a queue of nodes in which each waiter watches its own
 *
 * Algorithm:   An arriving CPU exchanges its node into `tail`. It finds its
 *              predecessor there, links itself to it, and spins on its own
 *              node. The releasing CPU clears the flag in its successor's.
 * Source:      Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 2.4; we
 *              differ: a try_lock.
 * Use when:    many CPUs contend: a handoff costs the same however many wait,
 *              as each spins on a line of its own. Few CPUs: ticket_lock is
 *              smaller, and cheaper while nobody waits. Nodes without pointers
 *              to each other: clh_lock.
 * Size:        a pointer; a node of two for each acquisition that holds or
 *              waits                   Checked: unit/every lock: sizes
 * Zero bytes:  free; a node may have any contents: lock() sets it up
 *                                      Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access to the lock is
 *              before the one that releases, which is to the next holder's
 *              node. A node is free for anything once its unlock has returned.
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the exchange; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    any number of contexts, each with a node of its own; nothing to
 *              enforce                 Checked: native/torture: exclusion
 * Context:     any; where a handler takes it too, by irq_guard. NMI: try_lock
 *              only, with a node of its own. No recursion. Everybody waits for
 *              a preempted holder, and for any preempted waiter ahead. unlock
 *              may wait, too: for a newcomer that has exchanged tail and not
 *              yet linked its node. A debugger or an NMI handler that has
 *              stopped the other CPUs may hang in unlock after a try_lock that
 *              succeeded: take another lock there, for instance
 *              ticket_lock.      Checked: model/unlock: waits for nobody
 * Assumes:     an atomic exchange and a compare-and-swap of a pointer
 *
 * State (tail):  null free --lock--> (last arrival) held --unlock--> the same,
 *                held by the successor, or null where there is none
 *
 * Ordering:
 *	O1  lock      tail.exchange_acq_rel          pairs with O1, O4, O7
 *	O2  lock      next.store_release             pairs with O5, O8
 *	O3  lock      waits.await_eq_acquire         pairs with O6
 *	O4  try_lock  tail.compare_exchange_acq_rel  pairs with O1, O7
 *	O5  unlock    next.load_acquire              pairs with O2
 *	O6  unlock    waits.store_release            pairs with O3
 *	O7  unlock    tail.compare_exchange_release  pairs with O1, O4
 *	O8  unlock    next.await_ne_acquire          pairs with O2
 *                                      Checked: model/orders_needed
 *
 * Cost:        uncontended: 2 RMW, 2 stores, 2 lines; handoff with w
 *              waiters: 6 misses, whatever w is   Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct mcs_lock;

/*
 * One acquisition's position in the queue. The caller lends it from lock()
 * until unlock() has returned; then it may be used again, with this or another
 * lock. It may live on the stack. A context needs two nodes to hold two locks.
 *
 * Nodes side by side in an array share cache lines, and waiters then disturb
 * each other: give each node a line of its own (alignas).
 */
struct mcs_node {
	constexpr mcs_node() = default;

      private:
	friend mcs_lock;

	/* the successor; null until it has linked itself */
	atomic<mcs_node *> next;
	/* 1: not yet its turn */
	atomic<u8> waits;
};

struct mcs_lock {
	using node = mcs_node;
	static constexpr bool node_may_live_on_stack = true;

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};

	/* Waits for its turn; on return the caller is the holder. */
	void lock(mcs_node &mine) { lock_watched(unwatched{}, mine); }

	/*
	 * Takes the lock if it is free; never waits. ABA does no harm: an empty
	 * queue is a free lock, whatever happened in between. If it fails, it
	 * has written nothing but the node.
	 */
	[[nodiscard]] bool try_lock(mcs_node &mine)
	{
		mcs_node *nobody = nullptr;

		if (tail.load_relaxed() != nobody)
			return false;
		mine.next.store_relaxed(nullptr);
		return tail.compare_exchange_acq_rel(nobody, &mine); /* O4 */
	}

	/* Called by the holder, with the node that it gave to lock(). */
	void unlock(mcs_node &mine)
	{
		mcs_node *successor = mine.next.load_acquire(); /* O5 */

		if (successor == nullptr) {
			if (left_empty(mine))
				return;
			/* A successor has arrived, and is about to link. */
			successor =
				mine.next.await_ne_acquire(nullptr); /* O8 */
		}
		successor->waits.store_release(0); /* O6 */
	}

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return tail.load_relaxed() != nullptr;
	}

	/* Whether somebody waits behind the holder, which asks: a hint. */
	[[nodiscard]] bool is_contended(const mcs_node &mine) const
	{
		return tail.load_relaxed() != &mine;
	}

      protected:
	/* lock(), whose wait `watch` sees: types.hpp. */
	template <typename Watch>
	void lock_watched(Watch watch, mcs_node &mine)
	{
		if (mcs_node *const predecessor = arrive(mine))
			watch([] { return true; },
			      [predecessor, &mine] {
				      wait_behind(*predecessor, mine);
			      });
	}

      private:
	/*
	 * Makes the node the last of the queue, and returns the one before it;
	 * null if the queue was empty.
	 *
	 * O1, like O4, releases the node's first values: the successor acquires
	 * them by its own O1, so it writes `next` after they were written. Both
	 * also acquire the critical section of the holder that emptied the
	 * queue by O7.
	 */
	mcs_node *arrive(mcs_node &mine)
	{
		mine.next.store_relaxed(nullptr);
		mine.waits.store_relaxed(1);
		return tail.exchange_acq_rel(&mine); /* O1 */
	}

	/*
	 * O2 passes on that `waits` was set. Without O2, or without O5 and O8,
	 * the predecessor could clear `waits` before this CPU sets it, and this
	 * CPU would wait for ever.
	 */
	static void wait_behind(mcs_node &predecessor, mcs_node &mine)
	{
		predecessor.next.store_release(&mine); /* O2 */
		mine.waits.await_eq_acquire(0);	       /* O3 */
	}

	/* Empties the queue; false: a successor has arrived. */
	bool left_empty(mcs_node &mine)
	{
		mcs_node *last = &mine;

		return tail.compare_exchange_release(last, nullptr); /* O7 */
	}

	/* the node of the last to arrive; null: free */
	atomic<mcs_node *> tail;
};

} // namespace klock
