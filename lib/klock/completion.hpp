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
 * Algorithm:   A flag under the inner lock; set() wakes all.
 * Source:      Linux's completion, whose complete_all() this is, and Windows'
 *              event; the proof is ours: detail/sleeping.hpp.
 * Use when:    an answer is waited for: a device's, the end of a thread, boot's
 *              next stage. Again and again: semaphore.
 * Size:        16 bytes, on 32 bits 8; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  not set                 Checked: unit/sleep: sizes
 * Lifetime:    a thread whose wait it ended may free it, or have it on its
 *              stack: set() does not access it any more by then. That is why
 *              every function takes the inner lock
 *                                      Checked: model/sleep: completion
 * Fairness:    all are woken, in the order of their arrival
 *                                      Checked: model/sleep: completion
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     waits: threads, interrupts on, no spin lock held. set(), reset()
 *              and is_set(): handlers, too. NMI: none.
 * Assumes:     what the inner lock assumes
 *
 * State (done):  false --set--> true --reset--> false
 *
 * Ordering:    none of its own; the inner lock orders all
 *                                      Checked: model/sleep: orders needed
 *
 * Cost:        uncontended: a passage of the inner lock
 *                                      Checked: model/sleep: cost
 */
#pragma once

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
	void wait() { (void)await(nullptr); }

	/* wait() until a deadline of cycles(). False: it was not set by then;
	 * it may still be set later. */
	[[nodiscard]] bool wait_until(u64 deadline) { return await(&deadline); }
	[[nodiscard]] bool wait_for(u64 how_long)
	{
		return wait_until(deadline_in(how_long));
	}

	/* Sets it, until reset(), and wakes all waiters. */
	void set()
	{
		section in(inner);

		done.set(true);
		queue.wake_all();
	}

	/* Makes it ready for its next use, once nobody waits. */
	void reset()
	{
		section in(inner);

		done.set(false);
	}

	/* Whether it is set; if so, all writes before set() are visible. */
	[[nodiscard]] bool is_set() const
	{
		section in(inner);

		return done.get();
	}

	/* Whether a thread waits: a hint, stale on arrival. */
	[[nodiscard]] bool is_contended() const
	{
		section in(inner);

		return !queue.empty();
	}

      private:
	using section = detail::inner_section<Inner>;

	[[gnu::noinline]] bool await(const u64 *until)
	{
		section in(inner);

		if (done.get())
			return true;
		detail::sleeper me;

		return in.sleep_in(queue, me, until);
	}

	mutable Inner inner; /* is_set() takes it, too */
	plain<bool> done;
	detail::sleepers queue;
};

using completion = completion_with<>;

} // namespace klock
