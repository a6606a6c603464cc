/* SPDX-License-Identifier: MIT */
/*
 * shared_mutex - a lock that readers share, whose waiters sleep
 *
 *	{
 *		klock::shared_guard seen(names);
 *	}
 *	klock::guard held(names);
 *	...
 *	held.downgrade();				held to read from here
 *
 * Algorithm:   A word counts the readers and the writer inside, and has a flag
 *              for waiters. Without waiters, locking and unlocking are a
 *              compare-and-swap each. A thread that cannot enter first tries
 *              again some times (Spins). Then it queues a node on its stack,
 *              and parks. The last thread to leave wakes the first waiter,
 *              clears the flag, and leaves the lock free: a running thread may
 *              take it first (it barges). Until the woken waiter runs, nobody
 *              else is woken, and the lock works as if nobody waited. The woken
 *              waiter enters, or finds that it cannot, sets the flag again and
 *              sleeps. If a waiter was woken Patience times and could not
 *              enter, the next thread that would leave the lock free hands it
 *              over. If a reader enters, the readers directly behind it enter,
 *              too. If a waiter gives up while readers are inside, the readers
 *              behind it enter.
 * Source:      readers and writers in one queue, as Linux's rw_semaphore; the
 *              state, the inner lock, and the proof are ours:
 *              detail/sleeping.hpp.
 * Use when:    reads sleep or are long. Short ones: rw_ticket_lock,
 *              phase_fair_lock, reader_lock. Writers alone: mutex. Strict
 *              order: patient_shared_mutex<0>, which costs a context switch a
 *              writer, 10 to 300 times the time: for real time alone.
 * Size:        16 bytes, on 32 bits 12; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  free                    Checked: unit/sleep: sizes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                      Checked: model/sleep: freed by the last
 * Fairness:    the first waiter is bypassed until it has been woken Patience
 *              (8) times, then by nobody; waiters are FIFO among themselves. If
 *              the first waiter was not woken yet, an arriving reader queues,
 *              even if readers are inside: so readers cannot keep a writer out
 *                                      Checked: model/sleep: hand-over
 * Capacity:    2^30 - 1 readers at once: more contexts than there are
 *                                      Checked: native/sleep
 * Context:     lock(), lock_shared(): threads, interrupts on, no spin lock
 *              held. Unlocking and trying: handlers, too. NMI: none. No
 *              recursion: a read inside a read waits for ever if a writer
 *              queues in between.
 * Assumes:     a compare-and-swap of four bytes, and what the inner lock
 *              assumes
 *
 * State (word):  while waiters is set, only the inner lock's holder writes it;
 *		it is set if somebody waits and the first was not told
 *	free --lock--> writer --unlock--> free; writer --downgrade--> 1 reader
 *	free --lock_shared--> 1 .. n readers --unlock_shared, each--> free
 *	any of these but free --one waits--> the same + waiters
 *	held + waiters --the last leaves, and tells the first--> free
 *	free --the one told--> held (+ waiters);  held --..--> held + waiters
 *	held + waiters --the last leaves, the first has no patience--> held
 *
 * Ordering:
 *	O1  try_lock           compare_exchange_acquire  pairs with O4 to O6
 *	O2  try_lock_shared    compare_exchange_acquire  pairs with O4 to O6
 *	O3  took_or_announced  compare_exchange_acquire  pairs with O4 to O6
 *	O4  now_inside         store_release             pairs with O1 to O3
 *	O5  leave              compare_exchange_release  pairs with O1 to O3, O7
 *	O6  left_to_waiters    store_release             pairs with O1 to O3
 *	O7  enter_slowly       fetch_or_acquire          pairs with O5
 *                                      Checked: model/sleep: orders needed
 *
 *	All else is under the inner lock, which orders it. O3 must acquire even
 *	where it only sets the flag: a waiter is let in by a store, so nothing
 *	later synchronizes with readers that left by O5. O4 must release when a
 *	waiter gives up: it passes on the sections of threads that left under
 *	the inner lock to threads that enter by O1 and O2.
 *
 * Cost:        uncontended: 2 RMW, 1 line; a read the same
 *                                      Checked: model/sleep: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

/*
 * Patience, Spins: as mutex's, but four times the Spins. A writer waits for all
 * readers, and while it sleeps its CPU reads nothing: with 1 % writes and
 * sections of 2,000 cycles two threads are 1.2 times, eight on 2 cores 1.5
 * times as fast as with mutex's Spins. With strict order, two threads on 2
 * cores, one in ten of whose short sections writes, are a hundred times slower
 * (tests_host/bench).
 */
template <u32 Patience = 8, plain_lock Inner = detail::sleepers_lock,
	  u32 Spins = Patience ? 4 * spins_before_sleep : 0>
struct patient_shared_mutex {
	static_assert(Patience < 256, "patience is counted in a byte");
	static_assert(Patience || !Spins,
		      "Patience 0, strict order, has no Spins: they overtake");

	static constexpr u64 max_contenders = ~u64{0};
	static constexpr u64 max_readers = (u32{1} << 30) - 1;
	/* For checks: its waiters give their CPU away. */
	using waiters_sleep = void;

	constexpr patient_shared_mutex() = default;
	patient_shared_mutex(const patient_shared_mutex &) = delete;
	patient_shared_mutex &operator=(const patient_shared_mutex &) = delete;

	/* Sleeps until the caller alone holds the lock. */
	void lock()
	{
		if (!try_lock())
			(void)enter_slowly(false, nullptr);
	}
	/* Takes the lock if nobody holds it; never sleeps. */
	[[nodiscard]] bool try_lock()
	{
		u32 found = word.load_relaxed();

		return found == 0 &&
		       word.compare_exchange_acquire(found, writer); /* O1 */
	}
	/* lock() until a deadline of cycles(), which no spin iteration
	 * follows. False: the caller does not hold it. */
	[[nodiscard]] bool try_lock_until(u64 deadline)
	{
		return try_lock() || enter_slowly(false, &deadline);
	}
	[[nodiscard]] bool try_lock_for(u64 how_long)
	{
		return try_lock_until(deadline_in(how_long));
	}
	/* Only the writer may call it, or downgrade(). Called by others, it may
	 * let two writers in, or nobody (checked_lock names that). */
	void unlock() { leave(writer); }

	/* -- For readers, which share it -- */

	void lock_shared()
	{
		if (!try_lock_shared())
			(void)enter_slowly(true, nullptr);
	}
	/* Fails while a writer holds it, or while somebody waits and the first
	 * waiter was not woken. */
	[[nodiscard]] bool try_lock_shared()
	{
		u32 now = word.load_relaxed();

		while (!(now & (writer | waiters)))
			if (word.compare_exchange_acquire(
				    now, now + one_reader)) /* O2 */
				return true;
		return false;
	}
	/* lock_shared() until a deadline, as try_lock_until(). */
	[[nodiscard]] bool try_lock_shared_until(u64 deadline)
	{
		return try_lock_shared() || enter_slowly(true, &deadline);
	}
	[[nodiscard]] bool try_lock_shared_for(u64 how_long)
	{
		return try_lock_shared_until(deadline_in(how_long));
	}
	void unlock_shared() { leave(one_reader); }

	/* The writer becomes a reader; no writer comes between. A guard has
	 * its own downgrade(). */
	void downgrade()
	{
		section in(inner);

		now_inside(in, one_reader);
	}

	/* Whether somebody holds it, to write or to read: a hint. */
	[[nodiscard]] bool is_locked() const
	{
		return (word.load_relaxed() & ~waiters) != 0;
	}
	/* Whether somebody waits: a hint, too. */
	[[nodiscard]] bool is_contended() const
	{
		return told.load_relaxed() || word.load_relaxed() & waiters;
	}

      private:
	/* Parts of `word`: the writer's flag, a count of readers, the waiters'
	 * flag. */
	static constexpr u32 waiters = 1, one_reader = 2, writer = u32{1} << 31;

	using section = detail::inner_section<Inner>;

	static bool may_enter(u32 users, bool reads)
	{
		return reads ? users < writer : users == 0;
	}
	static u32 one_more(u32 users, bool reads)
	{
		return users + (reads ? one_reader : writer);
	}

	[[gnu::noinline]] bool enter_slowly(bool reads, const u64 *until)
	{
		if (detail::spins_until<Spins>(until, [&] {
			    return reads ? try_lock_shared() : try_lock();
		    }))
			return true;
		section in(inner);

		if (took_or_announced(reads))
			return true;
		detail::sleeper me;

		me.reads.set(reads);
		queue.push_back(me);
		for (;;) {
			const bool comes = in.sleep(me, until);

			if (!me.is_queued())
				return true;
			if (!comes) {
				give_up(in, me);
				return false;
			}
			me.woken.store_relaxed(false);
			told.store_relaxed(false);
			const u32 users =
				word.fetch_or_acquire(waiters); /* O7 */

			if (may_enter(users, reads)) {
				queue.remove(me);
				now_inside(in, one_more(users, reads));
				return true;
			}
			me.failed_wakeups.set(
				static_cast<u8>(me.failed_wakeups.get() + 1));
		}
	}

	/* True: the caller holds it. False: the next thread to leave will look
	 * at the queue, or the first waiter was woken and will try. */
	bool took_or_announced(bool reads)
	{
		u32 now = word.load_relaxed();

		while (!(now & waiters)) {
			const bool may = may_enter(now, reads);
			const u32 then =
				may ? one_more(now, reads) : now | waiters;

			if (!may && told.load_relaxed())
				return false;
			if (word.compare_exchange_acquire(now, then)) /* O3 */
				return may;
		}
		return false;
	}

	void give_up(section &in, detail::sleeper &me)
	{
		const u32 now = word.load_relaxed();

		queue.remove(me);
		if (now & waiters)
			now_inside(in, now - waiters);
	}

	/* Sets the users, with the inner lock held. Before, it lets in the
	 * readers at the front of the queue if they may enter; these hold the
	 * lock when they wake. */
	void now_inside(section &in, u32 users)
	{
		while (users && may_enter(users, true) && !queue.empty() &&
		       queue.first()->reads.get()) {
			users += one_reader;
			told.store_relaxed(false);
			in.wake_first(queue);
		}
		if (!queue.empty() && !told.load_relaxed())
			users |= waiters;
		word.store_release(users); /* O4 */
	}

	/* Releases the lock for one reader or the writer. */
	void leave(u32 one)
	{
		u32 now = word.load_relaxed();

		while (!(now & waiters))
			if (word.compare_exchange_release(now,
							  now - one)) /* O5 */
				return;
		if (!left_to_waiters(one))
			leave(one);
	}

	/* Leaves. If the lock is then free, hands it over or wakes the first
	 * waiter. False: nobody waits.
	 */
	[[gnu::noinline]] bool left_to_waiters(u32 one)
	{
		section in(inner);
		detail::sleeper *const first = queue.first();

		if (!first)
			return false;
		const u32 users = word.load_relaxed() - waiters - one;

		if (users) {
			word.store_relaxed(users | waiters);
		} else if (first->failed_wakeups.get() < Patience) {
			told.store_relaxed(true);
			word.store_release(0); /* O6 */
			in.wake(*first);
		} else {
			const bool reads = first->reads.get();

			in.wake_first(queue);
			now_inside(in, one_more(0, reads));
		}
		return true;
	}

	Inner inner;
	/* the first waiter has been woken and has not run yet */
	atomic<bool> told;
	/* the waiters flag, and the users inside: see State */
	atomic<u32> word;
	detail::sleepers queue;
};

using shared_mutex = patient_shared_mutex<>;

} // namespace klock
