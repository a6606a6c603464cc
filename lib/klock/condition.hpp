/* SPDX-License-Identifier: MIT */
/*
 * condition - threads that sleep until data under a lock of their own change
 *
 *	klock::guard held(queue.lock);			a mutex
 *	not_empty.wait(held, [&] { return !queue.empty(); });
 *
 *	klock::irq_guard held(ring.lock);		a spin lock
 *	not_empty.wait(held, [&] { return !ring.empty(); });
 *
 *	not_empty.notify_one();			in a handler, too
 *
 * Algorithm:   The waiter queues, releases the caller's lock, and no other, and
 *              parks; then it takes that lock again. It queues first, so that a
 *              notification in between finds it. A notification first looks
 *              whether anybody waits. That look is safe: a thread that checked
 *              the data before the change had queued when it released the
 *              caller's lock, and the notifier took that lock later, to make
 *              the change. A fence that would make it safe without that lock
 *              takes as long as the inner lock that the look avoids.
 * Source:      Lampson and Redell, CACM 23(2), 1980 (Mesa: a notified thread
 *              checks again); the proof is ours: detail/sleeping.hpp.
 * Use when:    data have a lock already, and threads wait for a change of them.
 *              A predicate of a few words that handlers change: wait_queue.
 * Size:        16 bytes, on 32 bits 8; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  nobody waits            Checked: unit/sleep: sizes
 * Lifetime:    the thread notified by the last call may free it
 *                              Checked: model/sleep: freed by the last
 * Fairness:    FIFO among waiters; then they compete for their lock by its own
 *              rules
 *                                      Checked: unit/sleep: condition
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     waits: threads, with the caller's lock held and no other spin
 *              lock; a guard that turned interrupts off restores them
 *              meanwhile. notify_one(), notify_all(): handlers, too, with that
 *              lock held or not; the data must be changed with it held. NMI:
 *              none.
 * Assumes:     what the inner lock assumes
 *
 * State (of the caller's):  the data under the caller's lock
 *
 * Ordering:    none of its own; the inner lock and the caller's order all
 *                                      Checked: model/sleep: orders needed
 *
 * A wait takes a guard of klock's (guard, irq_guard, of any lock), or an object
 * with unlock() and lock(): a lock itself, a std::unique_lock. A guard must
 * hold its lock as it took it, so not after unlock(), a failed try or
 * downgrade(). A checked lock or condition names that mistake; without checks,
 * memory that is no lock is written, or a lock is left locked. If the release
 * throws, as that of a std::unique_lock does that owns nothing, so does the
 * wait. An upgradable_guard is upgradable again after a wait. If the guard
 * asked for the CPU's number, it asks again after the wait, which may end on
 * another CPU. A node stays the same: use one that belongs to the thread, not
 * to the CPU.
 *                                      Checked: unit/sleep: condition,
 *                                      unit/sleep: a wait whose release
 *
 * Cost:        uncontended: a notification with nobody there: a load
 *                                      Checked: model/sleep: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

/* The waiter's node for a wait in two parts, on its thread's stack. */
using sleeper = detail::sleeper;

template <plain_lock Inner = detail::sleepers_lock>
struct condition_with {
	/* For checks. */
	using waiters_sleep = void;

	constexpr condition_with() = default;
	condition_with(const condition_with &) = delete;
	condition_with &operator=(const condition_with &) = delete;

	/* Sleeps until a notification. It may also return without one, so the
	 * caller checks again. */
	template <typename Held>
	void wait(Held &held)
	{
		(void)await(held, nullptr);
	}
	/* Sleeps until ready() is true; ready() is called with the lock
	 * held. */
	template <typename Held, typename Ready>
	void wait(Held &held, Ready ready)
	{
		while (!ready())
			(void)await(held, nullptr);
	}

	/* wait() until a deadline of cycles(). The caller holds its lock in any
	 * case. False: it was not notified. */
	template <typename Held>
	[[nodiscard]] bool wait_until(Held &held, u64 deadline)
	{
		return await(held, &deadline);
	}
	/* wait() until a deadline; returns ready()'s last result. */
	template <typename Held, typename Ready>
	[[nodiscard]] bool wait_until(Held &held, u64 deadline, Ready ready)
	{
		while (!ready())
			if (!await(held, &deadline))
				return ready();
		return true;
	}
	template <typename Held, typename... Ready>
	[[nodiscard]] bool wait_for(Held &held, u64 how_long, Ready... ready)
	{
		return wait_until(held, deadline_in(how_long),
				  static_cast<Ready &&>(ready)...);
	}

	/*
	 * Wakes the first waiter, or all of them; a thread that waits later is
	 * not woken. Any context but NMI handlers. The data were changed
	 * before, with the waiters' lock held.
	 */
	void notify_one()
	{
		if (waited_for.load_relaxed())
			notify_waiters(false);
	}
	void notify_all()
	{
		if (waited_for.load_relaxed())
			notify_waiters(true);
	}

	/*
	 * A wait in two parts, for a lock that is released in between by other
	 * means, as in C: prepare(), the release, sleep(). until: null: for
	 * ever. sleep() returns false if it was not notified by then.
	 *
	 * The thread looks at its data with their lock held, as in wait():
	 * before prepare(), and releases it after, or in between. Without the
	 * lock, notify_one() may not see it wait, and it not see the change:
	 * it sleeps for ever, on x86 too. A checked condition cannot name
	 * that, as the lock may be any; the model checker finds it. Data that
	 * no lock protects: wait_queue, whose own does.
	 *			Checked: model/sleep: condition: a look between
	 *
	 * One thread calls both, in this order, and each prepare() needs its
	 * sleep(): a thread that will not wait after all passes a deadline of
	 * 0. checked_lock names calls out of order. If a sleeper is destroyed
	 * before its sleep(), no check finds it: the next notification writes
	 * to its memory.
	 */
	void prepare(sleeper &me)
	{
		me.thread.set(klock_os_thread());
		me.woken.store_relaxed(false);
		enqueue(me);
	}
	[[gnu::noinline]] bool sleep(sleeper &me, const u64 *until)
	{
		me.park(until);
		section in(inner);
		const bool told = me.is_told();

		if (!told)
			leave_queue(me);
		return told;
	}
	/* For checks: whether it is in the queue. */
	[[nodiscard]] bool has(const sleeper &me)
	{
		section in(inner);

		return queue.has(me);
	}

      private:
	using section = detail::inner_section<Inner>;

	void enqueue(detail::sleeper &me)
	{
		section in(inner);

		queue.push_back(me);
		waited_for.store_relaxed(true);
	}

	/* With the inner lock held. */
	void leave_queue(detail::sleeper &me)
	{
		queue.remove(me);
		waited_for.store_relaxed(!queue.empty());
	}

	/* They release what a waiter in the queue holds. If that ends by an
	 * exception, it leaves the queue: a std::unique_lock that owns nothing
	 * throws. */
	template <typename Held>
	[[gnu::always_inline]] auto *let_go(Held &held, detail::sleeper &me)
	{
		until_released queued{*this, &me};
		auto *const lock = held.let_go();

		queued.me = nullptr;
		return lock;
	}
	template <typename Held>
	[[gnu::always_inline]] void unlock(Held &held, detail::sleeper &me)
	{
		until_released queued{*this, &me};

		held.unlock();
		queued.me = nullptr;
	}
	struct until_released {
		[[gnu::always_inline]] ~until_released()
		{
			if (me)
				in.leave_unless_woken(*me);
		}

		condition_with &in;
		detail::sleeper *me;
	};
	[[gnu::noinline]] void leave_unless_woken(detail::sleeper &me)
	{
		section in(inner);

		if (me.is_queued())
			leave_queue(me);
	}

	[[gnu::noinline]] void notify_waiters(bool all)
	{
		section in(inner);

		while (!queue.empty()) {
			in.wake_first(queue);
			if (!all)
				break;
		}
		waited_for.store_relaxed(!queue.empty());
	}

	template <typename Held>
		requires requires(Held &held) { held.lock_alone(); }
	[[gnu::always_inline]] bool await(Held &held, const u64 *until)
	{
		return await(held.lock_alone(), until);
	}
	template <typename Held>
	bool await(Held &held, const u64 *until)
	{
		static_assert(!detail::held_deeper<Held>,
			      "a wait lets go of a lock once, and a "
			      "recursive_lock may be held deeper");
		detail::sleeper me;

		enqueue(me);
		if constexpr (requires { held.let_go(); }) {
			auto *const lock = let_go(held, me);
			const bool told = sleep(me, until);

			held.take_back(lock);
			return told;
		} else if constexpr (requires { held.unlock(), held.lock(); }) {
			unlock(held, me);
			const bool told = sleep(me, until);

			held.lock();
			return told;
		} else {
			static_assert(!same_as<Held, Held>,
				      "a condition waits with one lock, or "
				      "with a guard of one: a pair_guard, a "
				      "rescue_guard cannot be released and "
				      "taken back");
		}
	}

	Inner inner;
	/* the queue is not empty */
	atomic<bool> waited_for;
	detail::sleepers queue;
};

using condition = condition_with<>;

} // namespace klock
