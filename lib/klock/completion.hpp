/* SPDX-License-Identifier: MIT */
/*
 * completion - an event that happens once, for threads that sleep until then
 *
 *	klock::completion done;			on the waiter's stack
 *
 *	start(request, done);
 *	done.wait();
 *
 *	request.done->set();			in the disk's handler
 *
 * Algorithm:   A byte says whether it is set, or not set and awaited. If nobody
 *              waits, set() is a compare-and-swap, and a wait after it a load.
 *              Else set() takes the inner lock, and wakes all.
 * Source:      Linux's completion, whose complete_all() this is, and Windows'
 *              event; the proof is ours: detail/sleeping.hpp.
 * Use when:    threads wait for one event: a device's answer, the end of a
 *              thread, boot's next stage. For repeated events: semaphore.
 * Size:        16 bytes, on 32 bits 8; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  not set                 Checked: unit/sleep: sizes
 * Lifetime:    a thread whose wait has ended may free it, or have it on its
 *              stack: set() does not access it any more by then. That is why a
 *              wait takes the inner lock if set() did
 *                                      Checked: model/sleep: completion
 * Fairness:    all are woken, in the order of their arrival
 *                                      Checked: model/sleep: completion
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     waits: threads, interrupts on, no spin lock held. set(), reset()
 *              and is_set(): handlers, too. NMI: none.
 * Assumes:     what the inner lock assumes
 *
 * State (state): set_inside: it is set, and set() may still hold the inner lock
 *	unset --wait--> awaited --the last waiter gives up--> unset
 *	unset --set--> done;  awaited --set--> set_inside
 *	any --reset--> unset, or awaited
 *
 * Ordering:
 *	O1  look     state.load_acquire              pairs with O2
 *	O2  set      state.compare_exchange_release  pairs with O1, O3
 *	O3  await    state.compare_exchange_acquire  pairs with O2
 *                                      Checked: model/sleep: orders needed
 *
 *	All else is under the inner lock, which orders it.
 *
 * Cost:        uncontended: set: 1 RMW; a wait after it: 1 load
 *                                      Checked: model/sleep: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

template <plain_lock Inner = detail::sleepers_lock>
struct completion_with {
	/* For checks. */
	using waiters_sleep = void;

	constexpr completion_with() = default;
	completion_with(const completion_with &) = delete;
	completion_with &operator=(const completion_with &) = delete;

	/* Sleeps until it is set. */
	void wait()
	{
		if (!is_done())
			(void)await(nullptr);
	}

	/* wait() until a deadline of cycles(). False: it was not set by then;
	 * it may still be set later. */
	[[nodiscard]] bool wait_until(u64 deadline)
	{
		return is_done() || await(&deadline);
	}
	[[nodiscard]] bool wait_for(u64 how_long)
	{
		return wait_until(deadline_in(how_long));
	}

	/* Sets it, until reset(), and wakes all waiters. */
	void set()
	{
		u8 found = unset;

		if (!state.compare_exchange_release(found, done)) /* O2 */
			set_slowly();
	}

	/* Makes it ready for its next use, once nobody waits. */
	void reset()
	{
		section in(inner);

		state.store_relaxed(queue.empty() ? unset : awaited);
	}

	/* Whether it is set; if so, all writes before set() are visible. */
	[[nodiscard]] bool is_set() const
	{
		const u8 now = look();

		if (now == set_inside)
			const section who_set_it_has_left(inner);
		return now >= done;
	}

	/* Whether a thread waits: a hint, stale on arrival. */
	[[nodiscard]] bool is_contended() const
	{
		section in(inner);

		return !queue.empty();
	}

      private:
	/* Values of `state`: see there. */
	static constexpr u8 unset = 0, awaited = 1, done = 2, set_inside = 3;

	using section = detail::inner_section<Inner>;

	/* It is set, and set() does not access it any more. */
	[[nodiscard]] bool is_done() const { return look() == done; }

	[[nodiscard]] u8 look() const { return state.load_acquire(); } /* O1 */

	[[gnu::noinline]] bool await(const u64 *until)
	{
		section in(inner);
		u8 found = unset;

		if (!state.compare_exchange_acquire(found, awaited) && /* O3 */
		    found >= done)
			return true;
		detail::sleeper me;

		if (in.sleep_in(queue, me, until))
			return true;
		if (queue.empty())
			state.store_relaxed(unset);
		return false;
	}

	[[gnu::noinline]] void set_slowly()
	{
		section in(inner);

		state.store_relaxed(set_inside);
		in.wake_all(queue);
	}

	mutable Inner inner; /* is_set() takes it, too */
	atomic<u8> state;
	detail::sleepers queue;
};

using completion = completion_with<>;

} // namespace klock
