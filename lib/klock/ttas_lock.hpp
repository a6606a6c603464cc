/* SPDX-License-Identifier: MIT */
/*
 * ttas_lock - test-and-set that waits by reading; also with back-off
 *
 * Algorithm:   A waiter reads until the flag is 0, and only then exchanges a 1
 *              in; the one that finds a 0 there holds the lock.
 *              backoff_ttas_lock backs off exponentially, up to a cap: after
 *              each read of 1 it pauses a random number of spin iterations,
 *              below a limit twice that of before.
 * Source:      Rudolph and Segall, ISCA 1984 (test before test-and-set);
 *              Anderson, IEEE TPDS 1(1), 1990, and Mellor-Crummey and Scott,
 *              ACM TOCS 9(1), 1991, section 2.1 (exponential back-off); we
 *              differ: the pause is random each time, from a seed that differs
 *              from CPU to CPU, so that waiters do not run in lockstep.
 * Use when:    there are more threads than CPUs to run them, or the order of
 *              service does not matter: a preempted waiter delays nobody.
 *              Fair, and as small: narrow_ticket_lock. Many CPUs: mcs_lock. A
 *              CPU whose narrow stores are slow (AMD Zen 3: 5 cycles):
 *              sized_ttas_lock<u32>, a word.
 * Size:        1 byte; no per-CPU state (back-off: on the waiter's stack).
 *              sized_ttas_lock: its Flag's
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    none: one CPU may take it again and again while others starve.
 *              Back-off makes it worse: a newcomer reads more often
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
 *	O1  lock        taken.exchange_acquire  pairs with O4
 *	O2  lock_paced  taken.exchange_acquire  pairs with O4
 *	O3  try_lock    taken.exchange_acquire  pairs with O4
 *	O4  unlock      taken.store_release     pairs with O1, O2, O3
 *                                      Checked: model/orders_needed
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              up to 2 (w + 2) misses, as all read and then try at once;
 *              with back-off fewer, and none of them knows how many
 *                                              Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace klock {

/* Flag: an integer, or bool. */
template <typename Flag>
struct sized_ttas_lock {
	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};

	constexpr sized_ttas_lock() = default;

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit sized_ttas_lock(taken_already) : taken(true) {}

	/*
	 * Waits until it was free at a try; then the caller holds it. The wait
	 * is relaxed: it decides only when to try, and O1 reads the flag again.
	 */
	void lock()
	{
		do {
			taken.await_eq_relaxed(false);
		} while (taken.exchange_acquire(true)); /* O1 */
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
		return !taken.exchange_acquire(true); /* O3 */
	}

	/* Only the holder may call it. */
	void unlock() { taken.store_release(false); } /* O4 */

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const { return taken.load_relaxed(); }

	/*
	 * lock() with pace() spin iterations after each read that found it
	 * held: backoff_ttas_lock uses it.
	 */
	template <typename Pace>
	void lock_paced(Pace &pace)
	{
		do {
			taken.await_paced_relaxed(
				[](Flag now) { return !now; },
				[&pace](Flag) { return pace(); });
		} while (taken.exchange_acquire(true)); /* O2 */
	}

      private:
	/* 0: free, 1: held */
	atomic<Flag> taken;
};

struct ttas_lock : sized_ttas_lock<bool> {
	using sized_ttas_lock::sized_ttas_lock;
};

/*
 * One acquisition's back-off: how long to pause next, in spin iterations.
 * Lives on the waiter's stack.
 */
struct exponential_backoff {
	/* Bounds of the limit up to which a pause is drawn; powers of two. */
	static constexpr u32 first_limit = 8;
	static constexpr u32 last_limit = 1024;

	/*
	 * place tells the waiter from others: see backoff_ttas_lock. Stacks lie
	 * powers of two apart; the factor (2^32 / golden ratio) spreads that
	 * over the upper bits, where pauses are drawn from.
	 */
	constexpr explicit exponential_backoff(usize place)
	    : random(static_cast<u32>((place >> 4) * u64{2654435769u}))
	{
	}

	/* 1 .. limit turns; the limit doubles until it is last_limit. */
	constexpr u32 operator()()
	{
		/* A linear congruence: Knuth, volume 2, 3.2.1. */
		random = random * 1664525 + 1013904223;
		const u32 turns = 1 + ((random >> 16) * limit >> 16);

		if (limit < last_limit)
			limit *= 2;
		return turns;
	}

      private:
	u32 limit = first_limit;
	u32 random;
};

/* A ttas_lock whose waiters back off; all else is the same. */
struct backoff_ttas_lock {
	static constexpr u64 max_contenders = ttas_lock::max_contenders;

	constexpr backoff_ttas_lock() = default;

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit backoff_ttas_lock(taken_already how) : inner(how) {}

	/* Waits as ttas_lock does, but reads less and less often. */
	void lock()
	{
		if (!inner.try_lock())
			lock_slowly();
	}

	[[nodiscard]] bool try_lock() { return inner.try_lock(); }
	void unlock() { inner.unlock(); }
	[[nodiscard]] bool is_locked() const { return inner.is_locked(); }

      private:
	/*
	 * Each CPU has a stack of its own, so the distance from the lock to a
	 * local differs from CPU to CPU and needs no CPU number. A distance,
	 * not an address: a kernel that is loaded elsewhere draws the same.
	 */
	[[gnu::noinline]] void lock_slowly()
	{
		char here;
		exponential_backoff pace(reinterpret_cast<usize>(&here) -
					 reinterpret_cast<usize>(this));

		inner.lock_paced(pace);
	}

	ttas_lock inner;
};

} // namespace klock
