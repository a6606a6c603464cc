/* SPDX-License-Identifier: MIT */
/*
 * anderson_lock - a ring of slots, a cache line each, one for each contender
 *
 * Algorithm:   An arriving CPU takes the next slot of the ring, waits until it
 *              is open, and closes it for the next round. The releasing CPU
 *              opens the slot after its own.
 * Source:      Anderson, IEEE TPDS 1(1), 1990; Mellor-Crummey and Scott, ACM
 *              TOCS 9(1), 1991, section 2.3; we differ: the slot counter is
 *              set back before it wraps, and so is right for any Slots.
 * Use when:    the number of contenders is known, many of them wait, and there
 *              is memory for a line for each of them in each lock. Otherwise
 *              mcs_lock, which is smaller and as local.
 * Size:        (Slots + 1) cache lines; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  not a lock: no slot is open (constinit, or construct it)
 *                                      Checked: unit/every lock: sizes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the slot; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    Slots contexts at once, holder and waiters together. One more
 *              may find the holder's slot not yet closed, and two are inside.
 *                                      Checked: unit/anderson_lock: capacity
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard. No recursion. Everybody waits for a preempted
 *              holder, and for any preempted waiter ahead.
 * Assumes:     an atomic add of 4 bytes, an atomic load and store
 *
 * State (next, open):  (n,n) free --lock--> (n+1,-) held --unlock--> (n+1,n+1)
 *
 * Ordering:
 *	O1  lock    next.fetch_add_acq_rel  pairs with O1 before it
 *	O2  lock    open.await_eq_acquire   pairs with O3
 *	O3  unlock  open.store_release      pairs with O2
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/anderson
 *
 * The counter's end: the CPU that took number `last`, a multiple of Slots,
 * subtracts `last` when it enters. Until it releases, Slots - 1 others can
 * arrive, so numbers stay below last + Slots for ever, and 2^32 need not be a
 * multiple of Slots. It is rare, as a second read-modify-write costs as much
 * as the first: set back each round, a lock of two slots costs half more.
 *
 * No try_lock: it would read a slot and then swap the counter. The ring may go
 * round in between: the counter is the same again, but the slot is closed, and
 * a try_lock that has taken it can neither wait nor leave.
 *
 * Cost:        uncontended: 1 RMW, 3 stores, 3 lines; handoff with w waiters:
 *              about 4 to 5 misses, whatever w is
 *                                              Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>

namespace klock {

/* Rounds: after how many rounds the counter is set back. Tests take 1. */
template <unsigned Slots, u32 Rounds = (u32{1} << 31) / (Slots ? Slots : 1)>
struct anderson_lock {
	static_assert(Slots >= 1, "a lock needs a slot");
	static_assert(Rounds >= 1 && u64{Rounds} * Slots <= u32{1} << 31,
		      "a round more fits the counter");

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = Slots;

	constexpr anderson_lock() : slots{slot{1}} {}
	anderson_lock(const anderson_lock &) = delete;
	anderson_lock &operator=(const anderson_lock &) = delete;

	/*
	 * Waits for its turn; on return the caller is the holder.
	 *
	 * O1: the next user of a slot, one round later, must not read the 1
	 * that the user before it read. Of Slots + 1 consecutive O1s two belong
	 * to one context. It takes its second number after the critical section
	 * of its first, and so after that slot was closed. Each O1 passes on
	 * what the one before it knew.
	 *
	 * The subtraction is relaxed: a read-modify-write continues the release
	 * sequence of O1.
	 */
	void lock()
	{
		const u32 number = next.fetch_add_acq_rel(1); /* O1 */
		const u32 mine = number % Slots;

		slots[mine].open.await_eq_acquire(1); /* O2 */
		slots[mine].open.store_relaxed(0);
		if (number == last)
			next.fetch_add_relaxed(0u - last);
		held.set(mine);
	}

	/* Only the holder may call it. */
	void unlock()
	{
		const u32 mine = held.get();
		const u32 after = mine + 1 == Slots ? 0 : mine + 1;

		slots[after].open.store_release(1); /* O3 */
	}

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		const u32 first = next.load_relaxed() % Slots;

		return slots[first].open.load_relaxed() == 0;
	}

      private:
	/* The number whose CPU sets the counter back: slot 0's. */
	static constexpr u32 last = Rounds * Slots;

	struct slot {
		constexpr slot() = default;
		constexpr explicit slot(u8 v) : open(v) {}

		/* 1: the CPU that took it may enter */
		alignas(cache_line) atomic<u8> open;
	};

	/*
	 * The next number to be taken, at most last + Slots. It comes first, as
	 * tests see by a lock's first bytes that a CPU has queued.
	 */
	alignas(cache_line) atomic<u32> next;
	/* the holder's slot */
	plain<u32> held;
	/* Slot 0 is open at first. */
	slot slots[Slots];
};

} // namespace klock
