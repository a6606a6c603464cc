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
 * Algorithm:   A count under the inner lock. release() gives its unit to the
 *              first waiter, without counting it, or counts it.
 * Source:      Dijkstra's P and V, with a queue; the proof is ours:
 *              detail/sleeping.hpp.
 * Use when:    units are counted: requests from a handler, places in a buffer.
 *              As a mutex it costs a context switch a section once threads
 *              outnumber CPUs, 10 to 300 times the time: take mutex for that.
 * Size:        16 bytes, on 32 bits 12; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  no unit                 Checked: unit/sleep: sizes
 * Lifetime:    the thread that acquired the last unit to be released may free
 *              it                      Checked: model/sleep: freed by the last
 * Fairness:    FIFO; nobody is bypassed
 *                                      Checked: model/sleep: in turn
 * Capacity:    Most units, then release() counts none and returns false; any
 *              number of threads      Checked: unit/sleep: semaphore
 * Context:     acquire(): threads, interrupts on, no spin lock held. release(),
 *              try_acquire(): handlers, too. NMI: none.
 * Assumes:     what the inner lock assumes
 *
 * State (units, queue):
 *	(n,-) --acquire--> (n-1,-);  (0,q) --acquire--> (0,q+1)
 *	(n,-) --release--> (n+1,-);  (0,q) --release--> (0,q-1)
 *
 * Ordering:    none of its own; the inner lock orders all
 *                                      Checked: model/sleep: orders needed
 *
 * Cost:        uncontended: 2 passages of the inner lock, 2 RMW, 2 stores, 1
 *              line                    Checked: model/sleep: cost
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

namespace detail {
/* No constant expression: the error names it. */
inline u32 more_units_than(u32 most) { return most; }
} // namespace detail

/* Most: units at once. */
template <u32 Most, plain_lock Inner = detail::sleepers_lock>
struct bounded_semaphore {
	static_assert(Most > 0, "a semaphore without units");
	static constexpr u32 most = Most;

	/* For checks. */
	using waiters_sleep = void;

	constexpr bounded_semaphore() = default;
	/* first: at most Most, or constinit does not compile; at run time, more
	 * are not counted. */
	constexpr explicit bounded_semaphore(u32 first)
	    : units(first <= Most ? first : detail::more_units_than(Most))
	{
	}
	bounded_semaphore(const bounded_semaphore &) = delete;
	bounded_semaphore &operator=(const bounded_semaphore &) = delete;

	/* Sleeps until the caller has a unit. */
	void acquire() { (void)take(nullptr); }

	/* Takes one that is there; never sleeps. */
	[[nodiscard]] bool try_acquire()
	{
		section in(inner);

		return took_one();
	}

	/* Sleeps until a deadline of cycles(). False: the caller has no unit.
	 */
	[[nodiscard]] bool try_acquire_until(u64 deadline)
	{
		return take(&deadline);
	}
	[[nodiscard]] bool try_acquire_for(u64 how_long)
	{
		return try_acquire_until(deadline_in(how_long));
	}

	/* Adds a unit, or gives it to a waiter. False: there are Most already.
	 */
	bool release()
	{
		section in(inner);

		if (!queue.empty()) {
			queue.wake_first();
			return true;
		}
		const u32 there = units.get();

		if (there >= Most)
			return false;
		units.set(there + 1);
		return true;
	}

      private:
	using section = detail::inner_section<Inner>;

	[[gnu::noinline]] bool take(const u64 *until)
	{
		section in(inner);

		if (took_one())
			return true;
		detail::sleeper me;

		return in.sleep_in(queue, me, until);
	}

	/* Takes a unit if there is one; there is none while anybody waits. */
	bool took_one()
	{
		const u32 there = units.get();

		if (there == 0)
			return false;
		units.set(there - 1);
		return true;
	}

	Inner inner;
	/* free units */
	plain<u32> units;
	detail::sleepers queue;
};

using semaphore = bounded_semaphore<~u32{0}>;

} // namespace klock
