/* SPDX-License-Identifier: MIT */
/*
 * padded_ticket_lock - a ticket lock with a cache line for each counter
 *
 * Algorithm:   As ticket_lock. An arriving CPU takes the line of `next` only;
 *              waiters keep reading theirs, the line of `owner`.
 * Source:      Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 2.2; we
 *              differ: no back-off (proportional_ticket_lock has it), counters
 *              of 8 and 16 bits.
 * Use when:    one lock is hot, some tens of CPUs wait for it and memory does
 *              not matter. A small lock: ticket_lock. Many CPUs: mcs_lock.
 * Size:        2 cache lines; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    2^bits contexts at once, holder and waiters together. With one
 *              more, two are inside; contexts, not CPUs.
 *                            Checked: unit/tickets: capacity
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard. No recursion. Everybody waits for a preempted
 *              holder, and for a preempted first waiter.
 * Assumes:     an atomic add, an atomic load and store
 *
 * State (next, owner):  (n,n) free --lock--> (n+1,n) held --unlock--> (n+1,n+1)
 *
 * Ordering:
 *	O1  lock    next.fetch_add_acq_rel  pairs with O1 before it
 *	O2  lock    owner.await_eq_acquire  pairs with O3
 *	O3  unlock  owner.store_release     pairs with O2
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/ticket
 *
 * No try_lock: it would have to decide on two counters that no single
 * operation reaches. Between a read of owner and a swap of next, 2^bits others
 * may pass. next then has the same value, the swap succeeds, and the ticket is
 * the last of a queue, in which a try_lock can neither wait nor leave.
 *
 * Cost:        uncontended: 1 RMW, 1 store, 2 lines; handoff with w
 *              waiters: w + 2 misses, but an arrival disturbs no
 *              waiter                                  Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace klock {

template <counter Counter>
struct padded_ticket_lock {
	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{1} << 8 * sizeof(Counter);

	constexpr padded_ticket_lock() = default;

	/* The lock after `served` critical sections: for tests of the wrap. */
	constexpr explicit padded_ticket_lock(Counter served)
	    : next(served), owner(served)
	{
	}

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit padded_ticket_lock(taken_already) : next(1) {}
	padded_ticket_lock(const padded_ticket_lock &) = delete;
	padded_ticket_lock &operator=(const padded_ticket_lock &) = delete;

	/* Waits for its turn; on return the caller is the holder. */
	void lock() { lock_watched(unwatched{}); }

	/* Only the holder calls it, so a store is enough. */
	void unlock()
	{
		const Counter mine = owner.load_relaxed();

		owner.store_release(successor(mine)); /* O3 */
	}

	/*
	 * Whether somebody holds it: a hint, stale on arrival. With exactly
	 * max_contenders queued, next == owner, and it reads as free.
	 */
	[[nodiscard]] bool is_locked() const { return tickets_out() != 0; }

	/* Whether somebody waits behind the holder: a hint, too. */
	[[nodiscard]] bool is_contended() const { return tickets_out() > 1; }

      protected:
	/* lock(), whose wait `watch` sees: types.hpp. */
	template <typename Watch>
	void lock_watched(Watch watch)
	{
		const Counter mine = take_ticket();

		watch([this, mine] { return owner.load_relaxed() != mine; },
		      [this, mine] { await_turn(mine); });
	}

      private:
	/*
	 * With a relaxed add a waiter could read the owner of exactly one wrap
	 * ago, which looks like its turn. O1 prevents that. Of 2^bits + 1
	 * consecutive tickets two belong to one context, which unlocks between
	 * them. Each O1 passes on what the one before it knew, so the last one
	 * knows that unlock: the owner that is read next is less than 2^bits
	 * behind the ticket.
	 */
	Counter take_ticket() { return next.fetch_add_acq_rel(1); /* O1 */ }
	void await_turn(Counter mine) const
	{
		owner.await_eq_acquire(mine); /* O2 */
	}

	Counter tickets_out() const
	{
		const Counter served = owner.load_relaxed();

		return distance(served, next.load_relaxed());
	}

	/* the next ticket to be taken */
	alignas(cache_line) atomic<Counter> next;
	/* the ticket that is served, which waiters read */
	alignas(cache_line) atomic<Counter> owner;
};

} // namespace klock
