/* SPDX-License-Identifier: MIT */
/*
 * mutex - a lock whose waiters sleep
 *
 *	constinit klock::mutex files;
 *
 *	klock::guard held(files);			guards as of any lock
 *	if (!files.try_lock_for(one_second))		in cycles()
 *		return timed_out;
 *
 * Algorithm:   A word holds two flags: held, and waiters. Without waiters,
 *              lock() and unlock() are a compare-and-swap each. A thread that
 *              finds the mutex held first tries again some times (Spins): a
 *              short section ends sooner than a thread falls asleep. Then it
 *              queues a node on its stack, and parks. unlock() wakes the first
 *              waiter, clears the flag, and leaves the mutex free: a running
 *              thread may take it first (it barges). Until the woken waiter
 *              runs, nobody else is woken, and the mutex works as if nobody
 *              waited. The woken waiter takes it, or finds it taken, sets the
 *              flag again and sleeps. To a waiter that was woken Patience times
 *              and found it taken each time, unlock() hands the mutex over.
 * Source:      the bits and the barging are the field's (Linux's mutex and its
 *              hand-over flag, WTF's ParkingLot; who was told is remembered as
 *              by Go's sync.Mutex); the state, the inner lock, and the proof
 *              are ours: detail/sleeping.hpp.
 * Use when:    a section sleeps, or is long: I/O, a page fault, another mutex.
 *              Short ones, and what a handler takes: preemptable_ticket_lock.
 *              Many read: shared_mutex. Strict order: patient_mutex<0>, which
 *              costs a context switch a section once threads outnumber CPUs, 10
 *              to 300 times the time: for real time alone.
 * Size:        16 bytes, on 32 bits 8; a waiter: 32 or 16 on its stack
 *                                      Checked: unit/sleep: sizes
 * Zero bytes:  free                    Checked: unit/sleep: sizes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases           Checked: model/sleep: freed by the last
 * Fairness:    the first waiter is bypassed until it has been woken Patience
 *              (8) times, then by nobody; waiters are FIFO among themselves
 *                                      Checked: model/sleep: hand-over
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     lock(): threads, interrupts on, no spin lock held. unlock(),
 *              try_lock(): handlers, too. NMI: none. No recursion. The kernel
 *              supplies the four functions of klock/os.hpp about threads; an
 *              unpark() comes with a spin lock of klock's held. Threads of
 *              several priorities: inheriting_mutex.
 * Assumes:     a compare-and-swap of one byte, or of the port's flag_word, and
 *              what the inner lock assumes
 *
 * State (word):  while waiters is set, only the inner lock's holder writes it;
 *		it is set if somebody waits and the first was not woken
 *	free --lock--> held --unlock--> free
 *	held --lock waits--> held + waiters --unlock wakes the first--> free
 *	held --the woken one finds it taken--> held + waiters
 *	held + waiters --unlock, the first has no patience--> held (+ waiters)
 *
 * Ordering:
 *	O1  lock            word.compare_exchange_acquire  pairs with O4 to O6
 *	O2  try_lock        word.compare_exchange_acquire  pairs with O4 to O6
 *	O3  lock_slowly     word.compare_exchange_acquire  pairs with O4 to O6
 *	O4  unlock          word.compare_exchange_release  pairs with O1 to O3
 *	O5  unlock_slowly   word.compare_exchange_release  pairs with O1 to O3
 *	O6  passed_on       word.store_release             pairs with O1 to O3
 *                                      Checked: model/sleep: orders needed
 *
 *	All else is under the inner lock, which orders it.
 *
 * Cost:        uncontended: 2 RMW, 1 line; one that sleeps: two passages of the
 *              inner lock, a park and an unpark    Checked: model/sleep: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/sleeping.hpp>

namespace klock {

/*
 * Patience (8), measured with eight threads on 2 cores and sections of 0, 50
 * and 500 cycles: they are as fast as without a bound, and the longest wait is
 * a tenth. With Patience 1 they take 1.3 times as long.
 *
 * Spins: most ports have 64. Two threads are then 1 to 2 times as fast as
 * without spinning, eight on 2 cores are as fast. A machine with one CPU
 * wants 0. Strict order has 0: a thread that spins may overtake another.
 */
template <u32 Patience = 8, plain_lock Inner = detail::sleepers_lock,
	  u32 Spins = Patience ? spins_before_sleep : 0>
struct patient_mutex {
	static_assert(Patience < 256, "patience is counted in a byte");
	static_assert(Patience || !Spins,
		      "Patience 0, strict order, has no Spins: they overtake");

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};
	/* For checks: its waiters give their CPU away. */
	using waiters_sleep = void;

	constexpr patient_mutex() = default;
	patient_mutex(const patient_mutex &) = delete;
	patient_mutex &operator=(const patient_mutex &) = delete;

	/* Sleeps until the caller holds it. */
	void lock()
	{
		flag_word found = free;

		if (!word.compare_exchange_acquire(found, held)) /* O1 */
			(void)lock_slowly(nullptr);
	}

	/* Takes it if it is free; never sleeps. */
	[[nodiscard]] bool try_lock()
	{
		flag_word found = word.load_relaxed();

		return found == free &&
		       word.compare_exchange_acquire(found, held); /* O2 */
	}

	/*
	 * lock() by a deadline of cycles(), or until the kernel ends the wait
	 * (klock_os_park_until()). No spin iteration follows the deadline.
	 * False: the caller does not hold it.
	 */
	[[nodiscard]] bool try_lock_until(u64 deadline)
	{
		return try_lock() || lock_slowly(&deadline);
	}
	/* try_lock_until() a deadline that many cycles from now. */
	[[nodiscard]] bool try_lock_for(u64 how_long)
	{
		return try_lock_until(deadline_in(how_long));
	}

	/* Only the holder may call it; on a free mutex it spins for ever
	 * (checked_lock names that). */
	void unlock()
	{
		flag_word found = held;

		if (!word.compare_exchange_release(found, free)) /* O4 */
			unlock_slowly();
	}

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return word.load_relaxed() & held;
	}
	/* Whether somebody waits: a hint, too. */
	[[nodiscard]] bool is_contended() const
	{
		return told.load_relaxed() || word.load_relaxed() & waiters;
	}

      private:
	/* Values of `word`. */
	static constexpr flag_word free = 0, held = 1, waiters = 2;

	using section = detail::inner_section<Inner>;

	[[gnu::noinline]] bool lock_slowly(const u64 *until)
	{
		if (detail::spins_until<Spins>(until,
					       [&] { return try_lock(); }))
			return true;
		section in(inner);

		if (took_or_announced())
			return true;
		detail::sleeper me;

		queue.push_back(me);
		for (;;) {
			const bool comes = in.sleep(me, until);

			if (!me.is_queued())
				return true;
			if (!comes) {
				leave_queue(me);
				return false;
			}
			me.woken.store_relaxed(false);
			told.store_relaxed(false);
			if (took_or_announced()) {
				queue.remove(me);
				word.store_relaxed(held_now());
				return true;
			}
			me.failed_wakeups.set(
				static_cast<u8>(me.failed_wakeups.get() + 1));
		}
	}

	/* True: it was free and is taken. False: unlock() will look at the
	 * queue, or the first waiter was woken and will try. */
	bool took_or_announced()
	{
		flag_word now = word.load_relaxed();

		for (;;) {
			if (now == free) {
				if (word.compare_exchange_acquire(
					    now, held)) /* O3 */
					return true;
			} else if (now & waiters || told.load_relaxed() ||
				   word.compare_exchange_relaxed(
					   now, held | waiters)) {
				return false;
			}
		}
	}

	/* Leaves the queue; the last waiter to leave clears the flag. */
	void leave_queue(detail::sleeper &me)
	{
		queue.remove(me);
		if (word.load_relaxed() & waiters)
			word.store_relaxed(held_now());
	}

	[[gnu::noinline]] void unlock_slowly()
	{
		flag_word found;

		do {
			if (passed_on())
				return;
			/* All waiters have given up. The release is not under
			 * the inner lock, which must not be used after it. */
			found = held;
		} while (!word.compare_exchange_release(found, free)); /* O5 */
	}

	/* Hands over, or wakes the first waiter; false: nobody waits. */
	bool passed_on()
	{
		section in(inner);
		detail::sleeper *const first = queue.first();

		if (!first)
			return false;
		if (first->failed_wakeups.get() >= Patience) {
			queue.remove(*first);
			word.store_relaxed(held_now());
		} else {
			told.store_relaxed(true);
			word.store_release(free); /* O6 */
		}
		in.wake(*first);
		return true;
	}

	flag_word held_now() const
	{
		return queue.empty() ? held : held | waiters;
	}

	Inner inner;
	/* the first waiter has been woken and has not run yet */
	atomic<bool> told;
	/* free, held, and waiters: see State */
	atomic<flag_word> word;
	detail::sleepers queue;
};

using mutex = patient_mutex<>;

} // namespace klock
