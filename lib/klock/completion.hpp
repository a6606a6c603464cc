/* SPDX-License-Identifier: MIT */
/*
 * completion - something that happens once, and whoever waits for it
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
 * Use when:    an answer is waited for: of a device, a thread that ends, boot's
 *              next stage. Again and again: semaphore.
 * Size:        16 bytes, on 32 bits 8; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  not set                 Checked: unit/sleep: sizes
 * Lifetime:    who returns from a wait that it ended may free it, as one on its
 *              stack is: whoever set it is out of it by then. That is why no
 *              function looks at it without the inner lock
 *                                      Checked: model/sleep: completion
 * Fairness:    all are woken, in the order in which they came
 *                                      Checked: model/sleep: completion
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     waits: threads, interrupts on, no spin lock held. set(), reset()
 *              and is_set(): handlers, too. NMI: none.
 * Assumes:     what the inner lock assumes
 *
 * State (done):  false --set--> true --reset--> false
 *
 * Ordering:    none of its own; the inner lock brings all
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

	/* Sleeps until it is set. */
	void wait() { (void)await(nullptr); }

	/* By a deadline of cycles(). False: it was not set by then, and whoever
	 * is to set it may still do so. */
	[[nodiscard]] bool wait_until(u64 deadline) { return await(&deadline); }
	[[nodiscard]] bool wait_for(u64 how_long)
	{
		return wait_until(deadline_in(how_long));
	}

	/* For good, until reset(); who waits is woken. */
	void set()
	{
		section in(inner);

		done.set(true);
		queue.wake_all();
	}

	/* For its next use, once nobody waits for this one. */
	void reset()
	{
		section in(inner);

		done.set(false);
	}

	/* Whether it is set, and all that was done before can be seen. */
	[[nodiscard]] bool is_set() const
	{
		section in(inner);

		return done.get();
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
