/* SPDX-License-Identifier: MIT */
/*
 * sleeping - the common parts of the locks whose waiters sleep
 *
 * Each such lock is a state, a queue of waiters, and an inner spin lock of two
 * bytes that protects both. The fields of a waiter are written, and
 * klock_os_unpark() is called, with the inner lock held and interrupts off; a
 * woken waiter takes the inner lock before it returns. It follows:
 *
 * - No thread is unparked after its wait has returned. So its handle needs no
 *   reference count, and its node can live on its stack.
 * - A thread that gets such a lock may free it: it has held the inner lock
 *   after the last holder has.
 * - A wake-up and a deadline do not race: under the inner lock, a waiter was
 *   notified or it was not. The result of klock_os_park_until() does not
 *   matter.
 * - The inner lock's memory orders are enough. `woken` is relaxed, though its
 *   thread reads it without the inner lock: the permit orders it.
 *
 * The price is that klock_os_unpark() is called with a spin lock held: once for
 * each waiter that is notified. What would run into that lock, a woken thread
 * on this CPU or another, can be left to klock_os_unparked(), which is called
 * after that lock is released. It touches nothing of a sleeper.
 *
 * A thread reads `woken` before each park(): a park in between, for a page
 * fault or another lock, may have consumed the permit. So nothing that may park
 * comes between the read and the park.
 *
 * The inner lock is a preemptable_ticket_lock. On bare metal, a ticket_lock
 * would do as well. On a host, and if vCPUs share cores, its holder and its
 * first waiter are preempted although interrupts are off. With a strict order,
 * each section would then wait for a time slice: readers that never sleep would
 * be 30 to 70 times slower. Tickets that can be bypassed cost a kernel nothing,
 * keep the order of the waiters that run, and exclude any number of contenders;
 * a ticket_lock<u8> admits two holders at 257, and a host has more threads.
 *		Checked: model/sleep: the inner lock
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/unparked.hpp>
#include <klock/irq.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * Why a wait by a deadline ended, from what the wait returned; asked at once.
 *
 *	klock::why_ended(files.try_lock_until(deadline), deadline)
 *
 * had: it has what it waited for, even if it was killed meanwhile, or is late.
 * Otherwise the clock decides: if the deadline has passed, that is the reason,
 * killed or not; if it has not, the thread was killed. If the clocks of two
 * CPUs differ, the answer may be wrong; the kernel's own flag is not. An
 * inheriting_mutex has more reasons, and lock_until() for them.
 *				Checked: unit/sleep: why a wait ended
 */
template <same_as<bool> Had>
[[nodiscard]] inline wait_result why_ended(Had had, u64 deadline)
{
	if (had)
		return wait_result::had;
	return cycles() < deadline ? wait_result::killed
				   : wait_result::deadline;
}
/* Refuses the two in another order, or a result that is no bool. */
template <typename Had, typename Deadline>
	requires(!same_as<Had, bool> || same_as<Deadline, bool>)
inline wait_result why_ended(const Had &, const Deadline &)
{
	static_assert(same_as<Had, bool> && !same_as<Deadline, bool>,
		      "why_ended(had, deadline): first the bool that the wait "
		      "returned, then its deadline");
	return wait_result::had;
}

} // namespace klock

namespace klock::detail {

using sleepers_lock = preemptable_ticket_lock<u8>;

/* A waiting thread's node, on its stack, protected by the inner lock. */
struct sleeper {
	sleeper() : thread(klock_os_thread()) {}
	sleeper(const sleeper &) = delete;
	sleeper &operator=(const sleeper &) = delete;

	[[nodiscard]] bool is_queued() const { return next.get(); }
	[[nodiscard]] bool is_told() const { return woken.load_relaxed(); }

	/* Wakes the thread, for a section of the inner lock, which the thread
	 * takes before this node is gone. */
	void wake()
	{
		const usize handle = thread.get();

		woken.store_relaxed(true);
		klock_os_unpark(handle);
	}

	/* Parks, without the inner lock held. until: the deadline; null:
	 * none. */
	void park(const u64 *until) const
	{
		while (!woken.load_relaxed()) {
			if (!until)
				klock_os_park();
			else if (!klock_os_park_until(*until))
				return;
		}
	}

	/* the ring of waiters; next is null while it is in none */
	plain<sleeper *> next, previous;
	/* klock_os_thread() of the waiter */
	plain<usize> thread;
	/* it was notified: it goes on, or checks whether it may go on */
	atomic<bool> woken;
	/* mutex: how many times it was woken and found the mutex taken */
	plain<u8> failed_wakeups;
	/* shared_mutex: it waits to read */
	plain<bool> reads;
};

/* A queue of waiters, as a ring. Zero bytes: empty. */
struct sleepers {
	[[nodiscard]] sleeper *first() const { return head.get(); }
	[[nodiscard]] bool empty() const { return !head.get(); }

	/* Calls visit(sleeper) for each, in their order. */
	template <typename Visit>
	void for_each(Visit visit) const
	{
		sleeper *const front = head.get();
		sleeper *at = front;

		while (at) {
			sleeper *const next = at->next.get();

			visit(*at);
			at = next == front ? nullptr : next;
		}
	}
	/* The one behind it; null: it is the last. */
	[[nodiscard]] sleeper *after(const sleeper &one) const
	{
		sleeper *const next = one.next.get();

		return next == head.get() ? nullptr : next;
	}
	/* The first that was not woken; null: there is none. */
	[[nodiscard]] sleeper *first_asleep() const
	{
		sleeper *at = head.get();

		while (at && at->is_told()) {
			at = at->next.get();
			if (at == head.get())
				return nullptr;
		}
		return at;
	}
	/* For checks. Does not read `one`, which may be gone. */
	[[nodiscard]] bool has(const sleeper &one) const
	{
		bool found = false;

		for_each([&](const sleeper &at) { found |= &at == &one; });
		return found;
	}

	void push_back(sleeper &one)
	{
		sleeper *const front = head.get();

		if (front)
			put_before(one, *front);
		else
			put_alone(one);
	}
	/* Inserts it in front of the first one that it precedes; if there is
	 * none, at the end.
	 */
	template <typename Precedes>
	void insert(sleeper &one, Precedes precedes)
	{
		sleeper *const front = head.get();
		sleeper *at = front;

		if (!front)
			return put_alone(one);
		while (!precedes(*at)) {
			at = at->next.get();
			if (at == front)
				return put_before(one, *front);
		}
		put_before(one, *at);
		if (at == front)
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

      private:
	void put_alone(sleeper &one)
	{
		one.next.set(&one);
		one.previous.set(&one);
		head.set(&one);
	}
	/* Links it into the ring; the first stays the first. */
	static void put_before(sleeper &one, sleeper &at)
	{
		sleeper *const back = at.previous.get();

		one.next.set(&at);
		one.previous.set(back);
		back->next.set(&one);
		at.previous.set(&one);
	}

	plain<sleeper *> head;
};

/* Queues a waiter for a block, which begins and ends with the inner lock
 * held. */
struct queued {
	queued(sleepers &in, sleeper &me) : queue(in), one(me)
	{
		queue.push_back(one);
	}
	~queued() { queue.remove(one); }
	queued(const queued &) = delete;
	queued &operator=(const queued &) = delete;

      private:
	sleepers &queue;
	sleeper &one;
};

/* Whether a deadline has passed; null: there is none. */
inline bool is_over(const u64 *until) { return until && cycles() >= *until; }

/* Tries that many times, with a pause before each, but not after the deadline.
 * Done before a thread sleeps, as sleeping takes longer than a short section.
 */
template <u32 Spins, typename Try>
bool spins_until(const u64 *until, Try try_it)
{
	for (u32 i = 0; i < Spins && !is_over(until); i++) {
		cpu_relax();
		if (try_it())
			return true;
	}
	return false;
}

/* Whether a section must call klock_os_unparked(); empty if the kernel has
 * none. */
template <typename Returned>
struct wake_ups {
	void note() {}
	void go_on(irq_state) {}
};
template <>
struct wake_ups<bool> {
	void note() { due = true; }
	void go_on(irq_state before)
	{
		if (due)
			arch::unparked(before);
	}

	bool due = false;
};

/* Holds the inner lock, with interrupts off, for a block. After it, the lock
 * whose waiters sleep may be gone. */
template <plain_lock Inner>
struct inner_section {
	/* by: the call site that a checked lock notes. */
	inner_section(Inner &of, call_site by) : lock(of), before(irq_save())
	{
		lock.lock(by);
	}
	explicit inner_section(Inner &of) : lock(of), before(irq_save())
	{
		lock.lock();
	}
	~inner_section() { leave(); }
	inner_section(const inner_section &) = delete;
	inner_section &operator=(const inner_section &) = delete;

	/* Releases the inner lock until the thread is notified or the deadline
	 * has passed. Returns whether it was notified. It looks so many times
	 * before it parks. */
	template <u32 Looks = 0>
	bool sleep(sleeper &me, const u64 *until)
	{
		leave();
		for (u32 i = 0; i < Looks && !me.is_told() && !is_over(until);
		     i++)
			cpu_relax();
		me.park(until);
		before = irq_save();
		lock.lock();
		return me.is_told();
	}
	void wake(sleeper &one)
	{
		one.wake();
		woken.note();
	}
	/* Removes the first waiter and wakes it. */
	void wake_first(sleepers &queue)
	{
		sleeper &one = *queue.first();

		queue.remove(one);
		wake(one);
	}
	void wake_all(sleepers &queue)
	{
		while (!queue.empty())
			wake_first(queue);
	}

	/* Sleeps in the queue. False: the deadline has passed, and it was
	 * removed from the queue. */
	bool sleep_in(sleepers &queue, sleeper &me, const u64 *until)
	{
		queue.push_back(me);
		if (sleep(me, until))
			return true;
		queue.remove(me);
		return false;
	}

      private:
	using all_woken = wake_ups<decltype(arch::unparked(irq_state{}))>;

	void leave()
	{
		const irq_state as_it_was = before;
		all_woken so_far = woken;

		woken = {};
		lock.unlock();
		irq_restore(as_it_was);
		so_far.go_on(as_it_was);
	}

	Inner &lock;
	irq_state before;
	[[no_unique_address]] all_woken woken = {};
};
template <plain_lock Inner>
inner_section(Inner &) -> inner_section<Inner>;

/* The section of a caller whose line is known. */
template <plain_lock Inner>
inner_section<Inner> section_at(Inner &lock, call_site by)
{
	if constexpr (requires { lock.lock(by); })
		return inner_section<Inner>(lock, by);
	else
		return inner_section<Inner>(lock);
}

} // namespace klock::detail
