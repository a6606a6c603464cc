/* SPDX-License-Identifier: MIT */
/*
 * rw_ticket_lock - readers and writers, served in the order of their arrival
 *
 * Algorithm:   Everybody takes a ticket from `next`. `write` counts those who
 *              have gone: a writer waits until all before it have. `read` lets
 *              readers in: each waits for its ticket there and, once in, shows
 *              the next one. So readers who arrive one after the other share.
 * Source:      the tickets of Mellor-Crummey and Scott, ACM TOCS 9(1), 1991,
 *              section 2.2, with a second counter for readers, as kernels have
 *              it; we differ: a writer moves both counters by one add, try_lock
 *              and try_lock_shared are one compare-and-swap over all three.
 * Use when:    readers and writers are to be served alike, in strict order:
 *              nobody starves. Readers take turns at one line, so that many
 *              short reads gain little over ticket_lock. A reader that must not
 *              wait for more than one writer, or whose handlers read too:
 *              phase_fair_lock. Reads everywhere, hardly a write: reader_lock.
 * Size:        4 or 8 bytes; no per-CPU state
 *                                      Checked: unit/rw_ticket_lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket, readers among them; none is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    2^bits contexts at once, readers, writers and those who wait
 *              together. One more and two writers are inside. Contexts, not
 *              CPUs. rw_ticket_lock_for<N> compiles the bound.
 *                                      Checked: unit/rw_ticket_lock: 256
 * Context:     any; where a handler takes it too, either way, readers and
 *              writers by irq_guard and irq_shared_guard: a handler's reader
 *              queues behind a writer that waits for the reader it interrupted.
 *              NMI: try_lock and try_lock_shared only. No recursion, of readers
 *              neither; no upgrade. Everybody waits for a preempted holder,
 *              and for a preempted first waiter.
 * Assumes:     an atomic add on each field and on the whole, an atomic store to
 *              a field that leaves the others alone, a compare-and-swap over
 *              all. On 32-bit x86 the 8 bytes are added to by a
 *              compare-and-swap that is tried again.
 *
 * State (read, write, next):  (n,n,n) free --lock--> (n,n,n+1) written
 *              --unlock--> (n+1,n+1,n+1);  (n,n,n) --lock_shared-->
 *              (n+1,n,n+1) read --unlock_shared--> (n+1,n+1,n+1)
 *
 * Ordering:
 *	O1  lock             next.fetch_add_acq_rel    pairs with O1, O3, O9
 *	O2  lock             write.await_eq_acquire    pairs with O6, O8
 *	O3  lock_shared      next.fetch_add_acq_rel    pairs with O1, O3, O9
 *	O4  lock_shared      read.await_eq_acquire     pairs with O5, O6, O9
 *	O5  lock_shared      read.store_release        pairs with O4, O9
 *	O6  unlock           advance_release           pairs with O2, O4, O7, O9
 *	O7  try_lock         compare_exchange_acquire  pairs with O6, O8
 *	O8  unlock_shared    write.fetch_add_release   pairs with O2, O7
 *	O9  try_lock_shared  compare_exchange_acq_rel  pairs with O1, O3,
 *	    O4, O5, O6
 *                                      Checked: model/orders_needed
 *
 *	O1 and O3 keep narrow counters from being read a whole wrap too late, as
 *	in ticket_lock. O5 releases what the reader itself has read: the next
 *	reader learns of the last writer from it alone. O9 passes on what
 *	O3 does.
 *
 * Why one add in unlock: with two, readers are let in by the first, and one of
 * them could be the last to leave and free the lock before the second. Written
 * the other way round, the next writer could read a `read` that is not yet
 * moved on, and store it once more: a reader then waits for ever.
 *
 * Cost:        uncontended: 2 RMW, 1 line; handoff with w waiters: w + 1 to
 *              2 (w + 1) misses: all wait on one line, and each arrival
 *              disturbs them again; a read: 2 RMW, 1 store, 1 line; among r
 *              readers: r + 1 to 2 r misses: they enter one by one
 *                                      Checked: sim/costs
 */
#pragma once

#include <klock/atomic_fields.hpp>
#include <klock/concepts.hpp>
#include <klock/counter.hpp>

namespace klock {

template <counter Counter>
struct rw_ticket_lock {
	static_assert(sizeof(Counter) <= 2,
		      "rw_ticket_lock: u8 or u16, for 65536 contexts at most");

	/* Contexts that may hold or wait at once, either way. */
	static constexpr u64 max_contenders = u64{1} << 8 * sizeof(Counter);
	static constexpr u64 max_readers = max_contenders;
	/* Readers take of the same tickets. */
	static constexpr bool readers_contend = true;

	constexpr rw_ticket_lock() = default;

	/* The lock as it is after `served` sections: for tests of the wrap. */
	constexpr explicit rw_ticket_lock(Counter served)
	    : tickets(fields<Counter, 3>{{served, served, served}})
	{
	}

	/* -- A writer: alone -- */

	/* Waits for its turn; on return the caller is the holder. */
	void lock()
	{
		const Counter mine =
			tickets.template fetch_add_acq_rel<next>(1); /* O1 */

		tickets.template await_eq_acquire<write>(mine); /* O2 */
	}

	/*
	 * Takes the lock if nobody is in or waits; never waits. Writes nothing
	 * where it fails.
	 */
	[[nodiscard]] bool try_lock()
	{
		const Counter free = tickets.template load_relaxed<next>();

		if (tickets.template load_relaxed<write>() != free)
			return false;
		return tickets.compare_exchange_acquire(
			{{free, free, free}},
			{{free, free, successor(free)}}); /* O7 */
	}

	/* The holder's alone. While it is inside, read == write == its own. */
	void unlock()
	{
		const Counter mine = tickets.template load_relaxed<write>();
		const Counter after = successor(mine);

		tickets.advance_release({{mine, mine, 0}},
					{{after, after, 0}}); /* O6 */
	}

	/* -- A reader: with others -- */

	/* Waits for its turn; on return the caller reads, perhaps with others.
	 */
	void lock_shared()
	{
		const Counter mine =
			tickets.template fetch_add_acq_rel<next>(1); /* O3 */

		tickets.template await_eq_acquire<read>(mine);	       /* O4 */
		tickets.template store_release<read>(successor(mine)); /* O5 */
	}

	/*
	 * Takes the lock to read if no writer is in or waits; never waits. May
	 * fail while a reader is between its turn and the store by which it
	 * lets the next one in. Writes nothing where it fails.
	 */
	[[nodiscard]] bool try_lock_shared()
	{
		Counter mine, gone, after;

		do {
			mine = tickets.template load_relaxed<next>();
			if (tickets.template load_relaxed<read>() != mine)
				return false;
			gone = tickets.template load_relaxed<write>();
			after = successor(mine);
		} while (!tickets.compare_exchange_acq_rel(
			{{mine, gone, mine}}, {{after, gone, after}})); /* O9 */
		return true;
	}

	/* A reader's. Others add to it as well. */
	void unlock_shared()
	{
		(void)tickets.template fetch_add_release<write>(1); /* O8 */
	}

	/*
	 * Whether somebody holds it, or waits: a hint, stale on arrival.
	 * With exactly max_contenders it reads as free.
	 */
	[[nodiscard]] bool is_locked() const
	{
		return tickets.template load_relaxed<write>() !=
		       tickets.template load_relaxed<next>();
	}

      private:
	static constexpr usize read = 0;
	static constexpr usize write = 1;
	static constexpr usize next = 2;

	/* read: the reader that may enter; write: those who have gone, and so
	 * the writer that may; next: the next number to be taken */
	atomic_fields<Counter, 3> tickets;
};

/*
 * The smallest rw_ticket_lock that is safe for so many contexts at once:
 * CPUs x contexts of each that may contend (thread, interrupt, NMI).
 */
template <u64 Contexts>
using rw_ticket_lock_for =
	rw_ticket_lock<decltype(detail::counter_for<Contexts>())>;

} // namespace klock
