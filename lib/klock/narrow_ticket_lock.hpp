/* SPDX-License-Identifier: MIT */
/*
 * narrow_ticket_lock - first come, first served, both counters in one byte
 *
 * Algorithm:   `next` is the byte's top Bits bits, `owner` its lowest. One
 *              atomic add takes a ticket; its carry leaves the byte at the top.
 *              The holder's atomic add advances owner. At the wrap it subtracts
 *              the value of owner instead, so that nothing carries into next.
 * Source:      the tickets of Mellor-Crummey and Scott, ACM TOCS 9(1), 1991,
 *              section 2.2; one byte for both counters is ours.
 * Use when:    up to 16 CPUs contend and there are very many locks: the
 *              smallest fair lock. Otherwise ticket_lock, whose unlock is a
 *              plain store.
 * Size:        1 byte; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    2^Bits contexts at once, holder and waiters together: 4, 8, 16.
 *              With one more, two are inside; contexts, not CPUs.
 *                              Checked: unit/tickets: capacity
 * Context:     any; where a handler takes it too, by irq_guard. NMI: try_lock
 *              only. No recursion. Everybody waits for a preempted holder, and
 *              for a preempted first waiter.
 * Assumes:     an atomic add and a compare-and-swap of one byte
 *
 * State (next, owner):  (n,n) free --lock--> (n+1,n) held --unlock--> (n+1,n+1)
 *
 * Ordering:
 *	O1  lock      byte.await_acquire             pairs with O3
 *	O2  try_lock  byte.compare_exchange_acquire  pairs with O3
 *	O3  unlock    byte.fetch_add_release         pairs with O1, O2
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/ticket
 *
 * Cost:        uncontended: 2 RMW, 1 line; handoff with w waiters: w + 1
 *              to 2 (w + 1) misses: all wait on one line, and each
 *              arrival disturbs them again     Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

template <unsigned Bits>
struct narrow_ticket_lock {
	static_assert(Bits >= 2 && Bits <= 4, "two counters share 8 bits");

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{1} << Bits;

	constexpr narrow_ticket_lock() = default;

	/*
	 * The lock after `served` critical sections: for tests of the wrap.
	 * Counts modulo 2^Bits, as the lock does.
	 */
	constexpr explicit narrow_ticket_lock(u8 served)
	    : byte(static_cast<u8>(served << next_shift | (served & last)))
	{
	}

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit narrow_ticket_lock(taken_already) : byte(one_next) {}

	/*
	 * Waits for its turn; on return the caller is the holder.
	 *
	 * The add is relaxed, unlike ticket_lock's, as both counters are one
	 * location. A CPU never reads a value that is older than its own add,
	 * and from there owner passes its ticket once, at its turn.
	 *
	 * Other arrivals lie between O3 and the read of it by O1 or O2. They
	 * are read-modify-writes, and so continue the release sequence of O3.
	 */
	void lock()
	{
		const u8 mine = next_of(byte.fetch_add_relaxed(one_next));

		byte.await_acquire([mine](u8 now) {
			return owner_of(now) == mine;
		}); /* O1 */
	}

	/*
	 * Takes the lock if it is free and nobody waits; never waits. The swap
	 * compares both counters, so whole rounds of others in between do not
	 * matter. It fails if another CPU took a ticket in between, and then
	 * writes nothing.
	 */
	[[nodiscard]] bool try_lock()
	{
		u8 found = byte.load_relaxed();

		if (next_of(found) != owner_of(found))
			return false;
		return byte.compare_exchange_acquire(
			found, static_cast<u8>(found + one_next)); /* O2 */
	}

	/* Called by the holder. An add, as arrivals change the same byte. */
	void unlock()
	{
		const u8 mine = owner_of(byte.load_relaxed());

		byte.fetch_add_release(mine == last ? back_to_zero
						    : one_owner); /* O3 */
	}

	/*
	 * Whether somebody holds it: a hint, stale on arrival. With exactly
	 * max_contenders queued, next == owner, and it reads as free.
	 */
	[[nodiscard]] bool is_locked() const { return tickets_out() != 0; }

	/* Whether somebody waits behind the holder: a hint, too. */
	[[nodiscard]] bool is_contended() const { return tickets_out() > 1; }

      private:
	static constexpr unsigned next_shift = 8 - Bits;

	/* The last number before the wrap, and the mask of a counter. */
	static constexpr u8 last = (1 << Bits) - 1;

	/* Added by an arrival; by unlock(); by unlock() where owner wraps. */
	static constexpr u8 one_next = 1 << next_shift;
	static constexpr u8 one_owner = 1;
	static constexpr u8 back_to_zero = 0x100 - last;

	static constexpr u8 next_of(u8 both) { return both >> next_shift; }
	static constexpr u8 owner_of(u8 both) { return both & last; }

	u8 tickets_out() const
	{
		const u8 both = byte.load_relaxed();

		return static_cast<u8>(next_of(both) - owner_of(both)) & last;
	}

	/* next in the top bits, owner in the lowest; zeroes between them */
	atomic<u8> byte;
};

} // namespace klock
