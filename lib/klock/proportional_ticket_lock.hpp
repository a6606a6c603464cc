/* SPDX-License-Identifier: MIT */
/*
 * proportional_ticket_lock - a ticket lock whose pauses fit the queue's length
 *
 * Algorithm:   As ticket_lock, but a waiter computes how many waiters are ahead
 *              of it, and pauses that many times base spin iterations before it
 *              reads again.
 * Source:      Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 2.2; we
 *              differ: base is set at run time, from a measurement.
 * Use when:    tens to hundreds of CPUs wait, and critical sections all take
 *              about as long. base must be about
 *              (critical section + handoff) / cpu_relax(): too small and it is
 *              a ticket_lock, too large and the lock lies idle.
 *              klock/calibrate.hpp measures it; no constant is right. Sections
 *              of very different length: mcs_lock.
 * Size:        the counters and 4 bytes: 8, 8, 16; no per-CPU state
 *                          Checked: unit/every lock: sizes
 * Zero bytes:  free, and base 1
 *                          Checked: unit/proportional_ticket_lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    2^bits contexts at once, as ticket_lock
 *                          Checked: unit/tickets: capacity
 * Context:     as ticket_lock
 * Assumes:     what ticket_lock assumes
 * Sizes:       try_lock: as ticket_lock's
 *
 * State (next, owner):  (n,n) free --lock--> (n+1,n) held --unlock--> (n+1,n+1)
 *
 * Ordering:    none of its own: ticket_lock's lock_paced, try_lock and unlock.
 *              base is relaxed: any value that it ever had is right.
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/ticket
 *
 * Exponential back-off must not be used here: a waiter behind one that pauses
 * waits at least as long as that one, and the delays add up.
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              2 to 3 misses if base is right, else as ticket_lock
 *                                              Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/ticket_lock.hpp>

namespace klock {

template <counter Counter>
struct proportional_ticket_lock {
	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders =
		ticket_lock<Counter>::max_contenders;

	/*
	 * Spin iterations for each waiter ahead, if nobody has measured. More
	 * than a handoff takes on most machines: too many do less harm than too
	 * few.
	 */
	static constexpr u32 default_base = 64;

	constexpr proportional_ticket_lock() : base(default_base) {}
	constexpr explicit proportional_ticket_lock(u32 turns) : base(turns) {}

	/* The lock after `served` sections: for tests of the wrap. */
	constexpr proportional_ticket_lock(u32 turns, Counter served)
	    : queue(served), base(turns)
	{
	}

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit proportional_ticket_lock(taken_already held,
						    u32 turns = default_base)
	    : queue(held), base(turns)
	{
	}
	proportional_ticket_lock(const proportional_ticket_lock &) = delete;
	proportional_ticket_lock &
	operator=(const proportional_ticket_lock &) = delete;

	/* Sets the spin iterations for each waiter ahead; at any time. */
	void set_base(u32 turns) { base.store_relaxed(turns); }

	/* Waits for its turn; on return the caller is the holder. */
	void lock()
	{
		queue.lock_paced([this](Counter ahead) {
			return turns_for(ahead, base.load_relaxed());
		});
	}

	/* Tries as ticket_lock does: by one compare-and-swap of both
	 * counters. */
	[[nodiscard]] bool try_lock() { return queue.try_lock(); }

	/* Only the holder may call it. */
	void unlock() { queue.unlock(); }

	/* Hints, as ticket_lock's. */
	[[nodiscard]] bool is_locked() const { return queue.is_locked(); }
	[[nodiscard]] bool is_contended() const { return queue.is_contended(); }

	/*
	 * The pause with that many waiters ahead. It is never 0, as a wait
	 * without a pause would starve the CPU that it waits for. A product
	 * over 32 bits only makes the pause shorter.
	 */
	static constexpr u32 turns_for(Counter ahead, u32 base)
	{
		const u32 turns = ahead * base;

		return turns != 0 ? turns : 1;
	}

      private:
	ticket_lock<Counter> queue;
	/* spin iterations that a section and its handoff take */
	atomic<u32> base;
};

} // namespace klock
