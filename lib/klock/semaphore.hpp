/* SPDX-License-Identifier: MIT */
/*
 * semaphore - units that threads sleep for, and handlers may release
 *
 *	constinit klock::semaphore requests;		none yet
 *	constinit klock::bounded_semaphore<4> buffers(4);
 *
 *	requests.release();				in a handler, too
 *	requests.acquire();
 *
 * Algorithm:   A word counts the free units, or says that there is none and
 *              somebody waits. Without waiters, acquire() and release() are a
 *              compare-and-swap each. With waiters, release() takes the inner
 *              lock and gives its unit to the first, without counting it.
 * Source:      Dijkstra's P and V, with a queue; the proof is ours:
 *              detail/sleeping.hpp.
 * Use when:    units are counted: requests from a handler, free buffers. As a
 *              mutex it costs a context switch a section once threads outnumber
 *              CPUs, 10 to 300 times the time: take mutex for that.
 * Size:        16 bytes, on 32 bits 12; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  no unit                 Checked: unit/sleep: sizes
 * Lifetime:    the thread that acquired the last unit to be released may free
 *              it                      Checked: model/sleep: freed by the last
 * Fairness:    FIFO; nobody is bypassed
 *                                      Checked: model/sleep: in turn
 * Capacity:    Most units: with as many, release() adds none and returns false;
 *              any number of threads  Checked: unit/sleep: semaphore
 * Context:     acquire(): threads, interrupts on, no spin lock held. release(),
 *              try_acquire(): handlers, too. NMI: none.
 * Assumes:     what the inner lock assumes
 *
 * State (word):  while it is awaited, only the inner lock's holder writes it
 *	n units --acquire--> n - 1;  n --release--> n + 1
 *	no unit --acquire waits--> awaited --release, to the last waiter--> none
 *	awaited --the last waiter gives up--> no unit
 *
 * Ordering:
 *	O1  acquire         word.compare_exchange_acquire  pairs with O4, O5
 *	O2  try_acquire     word.compare_exchange_acquire  pairs with O4, O5
 *	O3  take_slowly     word.compare_exchange_acquire  pairs with O4, O5
 *	O4  release         word.compare_exchange_release  pairs with O1 to O3
 *	O5  release_slowly  word.compare_exchange_release  pairs with O1 to O3
 *                                      Checked: model/sleep: orders needed
 *
 *	All else is under the inner lock, which orders it.
 *
 * Cost:        uncontended: 2 RMW, 1 line   Checked: model/sleep: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

namespace detail {
/* Not a constant expression: the compiler's error shows its name. */
inline u32 more_units_than(u32 most) { return most; }
} // namespace detail

/* Most: units at once, up to 2^32 - 2. */
template <u32 Most, plain_lock Inner = detail::sleepers_lock>
struct bounded_semaphore {
	static_assert(Most > 0, "a semaphore without units");
	static_assert(Most < ~u32{0}, "that value says that somebody waits");
	static constexpr u32 most = Most;

	/* For checks. */
	using waiters_sleep = void;

	constexpr bounded_semaphore() = default;
	/* Starts with `first` units. More than Most do not compile with
	 * constinit; at run time, the excess is not counted. */
	constexpr explicit bounded_semaphore(u32 first)
	    : word(first <= Most ? first : detail::more_units_than(Most))
	{
	}
	bounded_semaphore(const bounded_semaphore &) = delete;
	bounded_semaphore &operator=(const bounded_semaphore &) = delete;

	/* Sleeps until the caller has a unit. */
	void acquire()
	{
		u32 now = word.load_relaxed();

		if (!has_units(now) ||
		    !word.compare_exchange_acquire(now, now - 1)) /* O1 */
			(void)take_slowly(nullptr);
	}

	/* Takes a unit if there is one; never sleeps. */
	[[nodiscard]] bool try_acquire()
	{
		u32 now = word.load_relaxed();

		while (has_units(now))
			if (word.compare_exchange_acquire(now,
							  now - 1)) /* O2 */
				return true;
		return false;
	}

	/* acquire() until a deadline of cycles(). False: the caller has no
	 * unit.
	 */
	[[nodiscard]] bool try_acquire_until(u64 deadline)
	{
		return try_acquire() || take_slowly(&deadline);
	}
	[[nodiscard]] bool try_acquire_for(u64 how_long)
	{
		return try_acquire_until(deadline_in(how_long));
	}

	/* Adds a unit, or gives it to a waiter. False: there are Most already.
	 */
	bool release()
	{
		u32 now = word.load_relaxed();

		return (now < Most &&
			word.compare_exchange_release(now, now + 1)) || /* O4 */
		       release_slowly();
	}

      private:
	/* A value of `word`: no unit, and somebody waits. */
	static constexpr u32 awaited = ~u32{0};

	using section = detail::inner_section<Inner>;

	/* Whether it is 1 to Most, by one comparison. */
	static bool has_units(u32 now) { return now - 1 < Most; }

	[[gnu::noinline]] bool take_slowly(const u64 *until)
	{
		section in(inner);

		if (took_or_announced())
			return true;
		detail::sleeper me;

		if (in.sleep_in(queue, me, until))
			return true;
		now_awaited();
		return false;
	}

	/* True: a unit was there. False: release() will look at the queue. */
	bool took_or_announced()
	{
		u32 now = word.load_relaxed();

		while (now != awaited) {
			if (now == 0) {
				if (word.compare_exchange_relaxed(now, awaited))
					return false;
			} else if (word.compare_exchange_acquire(
					   now, now - 1)) { /* O3 */
				return true;
			}
		}
		return false;
	}

	[[gnu::noinline]] bool release_slowly()
	{
		u32 now = word.load_relaxed();

		for (;;) {
			while (now < Most)
				if (word.compare_exchange_release(
					    now, now + 1)) /* O5 */
					return true;
			if (now != awaited)
				return false;
			if (handed_over())
				return true;
			/* All waiters have given up. The unit is not released
			 * under the inner lock, which must not be used after
			 * it. */
			now = word.load_relaxed();
		}
	}

	/* False: nobody waits. */
	bool handed_over()
	{
		section in(inner);

		if (queue.empty())
			return false;
		in.wake_first(queue);
		now_awaited();
		return true;
	}

	/* Called with the inner lock held, after a waiter has left the
	 * queue. */
	void now_awaited()
	{
		if (queue.empty())
			word.store_relaxed(0);
	}

	Inner inner;
	/* free units, or awaited: see State */
	atomic<u32> word;
	detail::sleepers queue;
};

using semaphore = bounded_semaphore<~u32{0} - 1>;

} // namespace klock
