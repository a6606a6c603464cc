/* SPDX-License-Identifier: MIT */
/*
 * tas_lock - test-and-set: one byte or a word, and no order of service
 *
 * Algorithm:   A CPU that exchanges a 1 into the flag and finds a 0 there holds
 *              the lock. A waiter repeats the exchange.
 * Source:      Anderson, IEEE TPDS 1(1), 1990, section III.A; we differ: PAUSE
 *              between two attempts.
 * Use when:    there is nearly never a waiter and every byte counts. Else
 *              ttas_lock (waits without writing), or ticket_lock (fair). A
 *              CPU whose narrow stores are slow (AMD Zen 3: 5 cycles):
 *              sized_tas_lock<u32>, a word.
 * Size:        1 byte; no per-CPU state. sized_tas_lock: its Flag's
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    none: one CPU may take it again and again while others starve
 *                                      Checked: native/torture: exclusion
 * Capacity:    any number of contexts; nothing to enforce
 *                                      Checked: native/torture: exclusion
 * Context:     any; where a handler takes it too, by irq_guard. NMI: try_lock
 *              only. No recursion. Everybody waits for a preempted holder, for
 *              a preempted waiter nobody.
 * Assumes:     an atomic exchange of one byte, or of a Flag
 *
 * State (taken):  0 free --lock--> 1 held --unlock--> 0
 *
 * Ordering:
 *	O1  lock      taken.await_exchange_acquire     pairs with O3
 *	O2  try_lock  taken.exchange_acquire           pairs with O3
 *	O3  unlock    taken.store_release              pairs with O1, O2
 *                                      Checked: model/orders_needed
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              w + 2 to w + 3 misses after a short critical section,
 *              without bound after a long one: each waiter takes the line
 *              from the others at every attempt
 *                                              Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/* Flag: an integer, or bool. */
template <typename Flag>
struct sized_tas_lock {
	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};

	constexpr sized_tas_lock() = default;

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit sized_tas_lock(taken_already) : taken(true) {}

	/* Waits until the lock was free at a try; then the caller holds it. */
	void lock()
	{
		taken.await_exchange_acquire(
			true, [](Flag was) { return !was; }); /* O1 */
	}

	/* lock(), and serve() while it waits: concepts.hpp, serving_lock. */
	template <serves Serve>
	void lock(Serve &&serve)
	{
		await_serving([this] { return try_lock(); }, serve);
	}

	/*
	 * Takes the lock if it is free; never waits. It reads before it writes,
	 * so a failure leaves the line to the holder.
	 */
	[[nodiscard]] bool try_lock()
	{
		if (taken.load_relaxed())
			return false;
		return !taken.exchange_acquire(true); /* O2 */
	}

	/* Only the holder may call it. */
	void unlock() { taken.store_release(false); } /* O3 */

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const { return taken.load_relaxed(); }

      private:
	/* 0: free, 1: held */
	atomic<Flag> taken;
};

struct tas_lock : sized_tas_lock<bool> {
	using sized_tas_lock::sized_tas_lock;
};

} // namespace klock
