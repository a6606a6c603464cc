/* SPDX-License-Identifier: MIT */
/*
 * ticket_lock - first come, first served, in two counters of 8, 16 or 32 bits
 *
 * Algorithm:   An arriving CPU takes a ticket from `next` and waits until
 *              `owner` shows it; the releasing CPU advances `owner` by one.
 *              The counters wrap, and only their equality is ever tested.
 * Source:      Mellor-Crummey and Scott, ACM TOCS 9(1), 1991, section 2.2; we
 *              differ: no back-off (proportional_ticket_lock has it), counters
 *              of 8 and 16 bits, try_lock by one compare-and-swap over both.
 * Use when:    every CPU runs (bare metal), critical sections are short and up
 *              to some tens of CPUs contend. Many CPUs at once: mcs_lock. More
 *              threads or vCPUs than cores: preemptable_ticket_lock.
 * Size:        2, 4 or 8 bytes; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    2^bits contexts at once, holder and waiters together. One more
 *              and two are inside. Contexts, not CPUs: an NMI handler's
 *              try_lock is one more. ticket_lock_for<N> compiles the bound.
 *                                      Checked: unit/tickets: capacity
 * Context:     any; where a handler takes it too, by irq_guard. NMI: try_lock
 *              only. No recursion. Everybody waits for a preempted holder, and
 *              for a preempted first waiter.
 * Assumes:     an atomic add on each half, an atomic store to a half that
 *              leaves the other alone, a compare-and-swap over both
 * Sizes:       try_lock: one compare-and-swap decides over both counters (ABA).
 *              On a Zen 3 the next lock() waits for it once.
 *
 * State (next, owner):  (n,n) free --lock--> (n+1,n) held --unlock--> (n+1,n+1)
 *
 * Ordering:
 *	O1  lock        next.fetch_add_acq_rel     pairs with O1 before it
 *	O2  lock        owner.await_eq_acquire     pairs with O6
 *	O3  lock_paced  owner.await_paced_acquire  pairs with O6
 *	O4  try_lock    owner.load_acquire         pairs with O6
 *	O5  try_lock    compare_exchange_acquire   pairs with O6
 *	O6  unlock      owner.store_release        pairs with O2 to O5
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/ticket
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              w + 1 to 2 (w + 1) misses: all wait on one line, and
 *              each arrival disturbs them again    Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

template <counter Counter>
struct ticket_lock {
	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{1} << 8 * sizeof(Counter);

	constexpr ticket_lock() = default;

	/* The lock after `served` critical sections: for tests of the wrap. */
	constexpr explicit ticket_lock(Counter served)
	    : tickets({served, served})
	{
	}

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit ticket_lock(taken_already) : tickets({0, 1}) {}
	ticket_lock(const ticket_lock &) = delete;
	ticket_lock &operator=(const ticket_lock &) = delete;

	/* Waits for its turn; on return the caller holds the lock. */
	void lock() { lock_watched(unwatched{}); }

	/* lock(), and serve() while it waits: concepts.hpp, serving_lock. */
	template <serves Serve>
	void lock(Serve &&serve)
	{
		const Counter mine = take_ticket();

		await_serving([this, mine] { return is_turn(mine); }, serve);
		await_turn(mine);
	}

	/*
	 * lock(), with pace(tickets ahead of its own) spin iterations
	 * between two reads: what proportional_ticket_lock is made of.
	 */
	template <typename Pace>
	void lock_paced(Pace pace)
	{
		const Counter mine = take_ticket();

		tickets.await_paced_acquire(
			owner, [mine](Counter now) { return now == mine; },
			[mine, pace](Counter now) {
				return pace(distance(now, mine));
			}); /* O3 */
	}

	/*
	 * Takes the lock if it is free and nobody waits; never waits. One
	 * compare-and-swap decides on both counters: between a read of owner
	 * and an increment of next alone, 2^bits others may pass and leave
	 * owner looking the same (ABA). Writes nothing if it fails.
	 *
	 * O5 reads owner too, and is enough. O4 is for ThreadSanitizer, which
	 * takes the word that O5 swaps and the half that O6 stores for two
	 * places, and would report a race.
	 */
	[[nodiscard]] bool try_lock()
	{
		const Counter free = tickets.load_acquire(owner); /* O4 */

		if (tickets.load_relaxed(next) != free)
			return false;
		return tickets.compare_exchange_acquire(
			{free, free}, {free, successor(free)}); /* O5 */
	}

	/* Only the holder writes owner: that is why a plain store is enough. */
	void unlock()
	{
		const Counter mine = tickets.load_relaxed(owner);

		tickets.store_release(owner, successor(mine)); /* O6 */
	}

	/*
	 * Whether it is held: a hint, stale on arrival. With exactly
	 * max_contenders queued, next == owner, and it reads as free.
	 */
	[[nodiscard]] bool is_locked() const { return tickets_out() != 0; }

	/* Whether somebody waits behind the holder: a hint, too. */
	[[nodiscard]] bool is_contended() const { return tickets_out() > 1; }

      protected:
	/* lock(), whose wait `watch` sees: types.hpp. */
	template <typename Watch>
	[[gnu::always_inline]] void lock_watched(Watch watch)
	{
		const Counter mine = take_ticket();

		watch([this, mine] { return !is_turn(mine); },
		      [this, mine] { await_turn(mine); });
	}

      private:
	/*
	 * next above owner: a carry out of it leaves the word. Where a CPU has
	 * no atomic add of 16 bits, one of 32 does (RISC-V).
	 */
	static constexpr field<0> owner{};
	static constexpr field<1> next{};

	/*
	 * O1 prevents a waiter from reading an owner value that is 2^bits
	 * tickets old. Of 2^bits + 1 consecutive tickets two belong to one
	 * context, which unlocks between them. The chain of O1s passes that
	 * unlock on, so the owner that is read next is less than 2^bits behind
	 * the ticket. A CPU whose add reads owner, too, ensures this without
	 * O1: RISC-V, for u8 and u16. AArch64's add of next alone does not: the
	 * read of owner could be the earlier. On x86 O1 costs nothing.
	 */
	Counter take_ticket()
	{
		return tickets.fetch_add_acq_rel(next, 1); /* O1 */
	}

	/* Orders nothing: await_turn(), which is called after it, acquires. */
	bool is_turn(Counter mine) const
	{
		return tickets.load_relaxed(owner) == mine;
	}

	void await_turn(Counter mine) const
	{
		tickets.await_eq_acquire(owner, mine); /* O2 */
	}

	Counter tickets_out() const
	{
		const Counter served = tickets.load_relaxed(owner);

		return distance(served, tickets.load_relaxed(next));
	}

	/* owner: the ticket being served; next: the next to be taken */
	atomic_pair<Counter> tickets;
};

/*
 * The smallest ticket_lock that is safe for so many contexts at once:
 * CPUs x contexts of each that may contend (thread, interrupt, NMI).
 */
template <u64 Contexts>
using ticket_lock_for = ticket_lock<decltype(detail::counter_for<Contexts>())>;

} // namespace klock
