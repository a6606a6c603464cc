/* SPDX-License-Identifier: MIT */
/*
 * sleeping - what the locks that sleep are made of
 *
 * Each is a state, a queue of waiters, and an inner spin lock of two bytes that
 * protects both. Under it, with interrupts off, are also what is noted in the
 * waiters and the call of klock_os_unpark(); and who was woken passes it before
 * it goes on. From that follows:
 *
 * - Nobody is unparked who has gone on. A thread's handle needs no reference
 *   count, and its node, on its stack, no second phase.
 * - Who gets a lock that sleeps may free it: it has passed the inner lock after
 *   the last holder.
 * - A wake and a deadline do not race: under the inner lock a waiter was told,
 *   or was not. What klock_os_park_until() returned decides nothing.
 * - No memory order is needed but the inner lock's; `woken`, which its thread
 *   reads outside, is relaxed: the permit orders it.
 *
 * The price is klock_os_unpark() with a spin lock held: once for one who is
 * told, n times where n are.
 *
 * The look at `woken` before each park() is what makes a permit enough: a park
 * in between, for a page fault or another lock, may have taken it. So nothing
 * that may park stands between the look and the park.
 *
 * The inner lock is a preemptable_ticket_lock. A ticket_lock would serve a
 * kernel on bare metal as well. On a host, and where vCPUs share cores, its
 * holder and its first waiter are preempted although interrupts are off, and a
 * strict order makes each section wait for a time slice: readers who never
 * sleep then are 30 to 70 times slower. Tickets that can be bypassed cost a
 * kernel nothing, keep the order of those that run, and exclude however many
 * contend: a ticket_lock<u8> lets two in at 257, and a host has more threads.
 *		Checked: model/sleep: the inner lock
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/types.hpp>

namespace klock::detail {

using sleepers_lock = preemptable_ticket_lock<u8>;

/* A thread in a wait, on its stack; under the inner lock but for the look. */
struct sleeper {
	sleeper() : thread(klock_os_thread()) {}
	sleeper(const sleeper &) = delete;
	sleeper &operator=(const sleeper &) = delete;

	[[nodiscard]] bool is_queued() const { return next.get(); }
	[[nodiscard]] bool is_told() const { return woken.load_relaxed(); }

	/* It passes the inner lock, which the caller holds, before it is gone.
	 */
	void wake()
	{
		const usize handle = thread.get();

		woken.store_relaxed(true);
		klock_os_unpark(handle);
	}

	/* Without the inner lock. until: null: for ever. */
	void park(const u64 *until) const
	{
		while (!woken.load_relaxed()) {
			if (!until)
				klock_os_park();
			else if (!klock_os_park_until(*until))
				return;
		}
	}

	/* The ring of those that wait; next is null while it is in none. */
	plain<sleeper *> next, previous;
	/* Of klock_os_thread(). */
	plain<usize> thread;
	/* It was told: it goes on, or looks whether it may. */
	atomic<bool> woken;
	/* mutex: so often it was told, and another had taken it. */
	plain<u8> in_vain;
	/* shared_mutex: it wants to read. */
	plain<bool> reads;
};

/* Those that wait, in a ring. Zero bytes: nobody. */
struct sleepers {
	[[nodiscard]] sleeper *first() const { return head.get(); }
	[[nodiscard]] bool empty() const { return !head.get(); }

	/* For checks. What `one` has become is not looked at. */
	[[nodiscard]] bool has(const sleeper &one) const
	{
		const sleeper *at = head.get();

		while (at && at != &one) {
			at = at->next.get();
			if (at == head.get())
				return false;
		}
		return at;
	}

	void push_back(sleeper &one)
	{
		sleeper *const front = head.get();

		if (!front) {
			one.next.set(&one);
			one.previous.set(&one);
			head.set(&one);
			return;
		}
		sleeper *const back = front->previous.get();

		one.next.set(front);
		one.previous.set(back);
		back->next.set(&one);
		front->previous.set(&one);
	}
	void push_front(sleeper &one)
	{
		push_back(one);
		head.set(&one);
	}

	void remove(sleeper &one)
	{
		sleeper *const next = one.next.get();
		sleeper *const previous = one.previous.get();

		previous->next.set(next);
		next->previous.set(previous);
		if (head.get() == &one)
			head.set(next == &one ? nullptr : next);
		one.next.set(nullptr);
	}

	/* Tells the first, and takes it out. */
	void wake_first()
	{
		sleeper &one = *head.get();

		remove(one);
		one.wake();
	}
	void wake_all()
	{
		while (!empty())
			wake_first();
	}

      private:
	plain<sleeper *> head;
};

/* The inner lock, with interrupts off, for a block; once left, the lock that
 * sleeps may be gone. */
template <plain_lock Inner>
struct inner_section {
	explicit inner_section(Inner &of) : lock(of), before(irq_save())
	{
		lock.lock();
	}
	~inner_section() { leave(); }
	inner_section(const inner_section &) = delete;
	inner_section &operator=(const inner_section &) = delete;

	/* Without it, until it is told or late; whether it was told. One
	 * function, for all that wait. */
	bool sleep(sleeper &me, const u64 *until)
	{
		leave();
		me.park(until);
		before = irq_save();
		lock.lock();
		return me.is_told();
	}
	/* In the queue, until it is told; false: late, and out of it. */
	bool sleep_in(sleepers &queue, sleeper &me, const u64 *until)
	{
		queue.push_back(me);
		if (sleep(me, until))
			return true;
		queue.remove(me);
		return false;
	}

      private:
	void leave()
	{
		const irq_state as_it_was = before;

		lock.unlock();
		irq_restore(as_it_was);
	}

	Inner &lock;
	irq_state before;
};

} // namespace klock::detail
