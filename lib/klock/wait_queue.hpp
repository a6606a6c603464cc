/* SPDX-License-Identifier: MIT */
/*
 * wait_queue - threads that sleep until a predicate is true
 *
 *	constinit klock::wait_queue arrivals;
 *
 *	arrivals.wait([] { return take_packet(); });
 *	arrivals.wake_one([] { put_packet(); });	in a handler, too
 *
 *	if (!arrivals.wait_for([] { return take_packet(); }, one_second))
 *		return timed_out;
 *
 * Algorithm:   The predicate is evaluated under the inner lock, and the waiter
 *              queues under the same lock. The change that makes it true, and
 *              the wake-up, are under it, too. So no wake-up falls between the
 *              check and the sleep. A woken waiter checks again; if another was
 *              faster, it sleeps on. It stays where it is in the queue until it
 *              leaves: wake_one() wakes the first that has not been woken yet.
 * Source:      sleep and wakeup of the field (xv6, Linux's wait_event), with
 *              the change inside; the proof is ours: detail/sleeping.hpp.
 * Use when:    a handler or a thread makes true what others wait for. Counted
 *              units: semaphore. Once: completion. Data under a lock of their
 *              own: condition.
 * Size:        16 bytes, on 32 bits 8; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  nobody waits            Checked: unit/sleep: sizes
 * Lifetime:    the thread woken by the last wake may free it
 *                              Checked: model/sleep: freed by the last
 * Fairness:    FIFO: a waiter stays where it is, however often it was woken
 *              and found nothing left      Checked: unit/sleep: wait_queue
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     waits: threads, interrupts on, no spin lock held. wake_one(),
 *              wake_all(): handlers, too; NMI: none. Predicates and changes run
 *              under a spin lock with interrupts off: they must be short, must
 *              not sleep, and must not call the same queue. They may take a
 *              spin lock if nobody waits for this queue, or wakes it, with that
 *              lock held: otherwise the two locks would be taken in both
 *              orders. checked_lock names all of these. A change outside of
 *              wake_one() must be atomic and come before it; a waiter between
 *              its check and its sleep would miss it otherwise. If waiters wait
 *              for different things, the one that wake_one() picks may not be
 *              the one that can go on: use wake_all(), or a queue for each.
 * Assumes:     what the inner lock assumes
 *
 * State (of the caller's):  false --wake_one's change--> true --ready--> taken
 *
 * Ordering:    none of its own; the inner lock orders all
 *                                      Checked: model/sleep: orders needed
 *
 * Cost:        uncontended: a wait that need not sleep, and a wake without
 *              waiters: a passage of the inner lock, which the predicate and
 *              the change need; wake_one(): also a step for each waiter that
 *              was woken and has not run yet        Checked: model/sleep: cost
 */
#pragma once

#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

template <plain_lock Inner = detail::sleepers_lock>
struct wait_queue_with {
	/* For checks. */
	using waiters_sleep = void;

	constexpr wait_queue_with() = default;
	wait_queue_with(const wait_queue_with &) = delete;
	wait_queue_with &operator=(const wait_queue_with &) = delete;

	/* Sleeps until ready() is true; ready() may take what it finds. */
	template <typename Ready>
	void wait(Ready ready)
	{
		(void)await(ready, nullptr);
	}

	/* wait() until a deadline of cycles(); returns ready()'s last result.
	 */
	template <typename Ready>
	[[nodiscard]] bool wait_until(Ready ready, u64 deadline)
	{
		return await(ready, &deadline);
	}
	template <typename Ready>
	[[nodiscard]] bool wait_for(Ready ready, u64 how_long)
	{
		return wait_until(static_cast<Ready &&>(ready),
				  deadline_in(how_long));
	}

	/* Calls change(), which makes the predicate true for one waiter, and
	 * wakes the first. */
	template <typename Change>
	void wake_one(Change change)
	{
		section in(inner);

		change();
		if (detail::sleeper *const first = queue.first_asleep())
			in.wake(*first);
	}
	/* Calls change(), which makes the predicate true for all, and wakes
	 * all. */
	template <typename Change>
	void wake_all(Change change)
	{
		section in(inner);

		change();
		queue.for_each([&](detail::sleeper &one) {
			if (!one.is_told())
				in.wake(one);
		});
	}

      private:
	using section = detail::inner_section<Inner>;

	template <typename Ready>
	[[gnu::noinline]] bool await(Ready &ready, const u64 *until)
	{
		section in(inner);

		if (ready())
			return true;
		detail::sleeper me;
		const detail::queued place(queue, me);

		for (;;) {
			const bool told = in.sleep(me, until);
			const bool is_ready = ready();

			if (is_ready || !told)
				return is_ready;
			me.woken.store_relaxed(false);
		}
	}

	Inner inner;
	detail::sleepers queue;
};

using wait_queue = wait_queue_with<>;

} // namespace klock
