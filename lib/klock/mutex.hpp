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
 * Algorithm:   A byte holds two flags: held, and waiters. Without waiters,
 *              lock() and unlock() are a compare-and-swap each. A waiter queues
 *              by a node on its stack and parks. unlock() wakes the first one
 *              and leaves the mutex free, so that a running thread may take it
 *              before (it barges). To a waiter that was woken Patience times
 *              and found it taken each time, unlock() hands it over.
 * Source:      the bits and the barging are the field's (Linux's mutex and its
 *              hand-over flag, WTF's ParkingLot); the state, the inner lock,
 *              and the proof are ours: detail/sleeping.hpp.
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
 * Fairness:    the first waiter is bypassed until it has been told Patience (8)
 *              times, then by nobody; waiters among each other are FIFO
 *                                      Checked: model/sleep: hand-over
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     lock(): threads, interrupts on, no spin lock held. unlock(),
 *              try_lock(): handlers, too. NMI: none. No recursion. The kernel
 *              supplies the four functions of klock/os.hpp about threads; an
 *              unpark() comes with a spin lock of klock's held. Priority
 *              inversion is not treated.
 * Assumes:     a compare-and-swap of one byte, and what the inner lock assumes
 *
 * State (word):  while waiters is set, only the inner lock's holder writes it
 *	free --lock--> held --unlock--> free
 *	held --lock waits--> held + waiters --unlock tells the first-->
 *	free + waiters --the one told, or a barger--> held (+ waiters)
 *	held + waiters --unlock, the first has no patience--> held (+ waiters)
 *
 * Ordering:
 *	O1  lock            word.compare_exchange_acquire  pairs with O4, O5
 *	O2  try_lock        word.compare_exchange_acquire  pairs with O4, O5
 *	O3  lock_slowly     word.compare_exchange_acquire  pairs with O4, O5
 *	O4  unlock          word.compare_exchange_release  pairs with O1 to O3
 *	O5  unlock_slowly   word.compare_exchange_release  pairs with O1 to O3
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
 * With Patience (8) eight threads on 2 cores are as fast as with no bound, at
 * sections of 0, 50 and 500 cycles, and the longest wait is a tenth. With 1
 * they take 1.3 times as long.
 */
template <u32 Patience = 8, plain_lock Inner = detail::sleepers_lock>
struct patient_mutex {
	static_assert(Patience < 256, "patience is counted in a byte");

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
		u8 found = free;

		if (!word.compare_exchange_acquire(found, held)) /* O1 */
			(void)lock_slowly(nullptr);
	}

	/*
	 * Takes it if it is free and nobody waits; never sleeps. Fails if
	 * somebody waits, even at a moment at which nobody holds it.
	 */
	[[nodiscard]] bool try_lock()
	{
		u8 found = word.load_relaxed();

		return found == free &&
		       word.compare_exchange_acquire(found, held); /* O2 */
	}

	/*
	 * lock() by a deadline of cycles(), or until the kernel ends the wait
	 * (klock_os_park_until()). False: the caller does not hold it.
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
		u8 found = held;

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
		return word.load_relaxed() & waiters;
	}

      private:
	/* Values of `word`. */
	static constexpr u8 free = 0, held = 1, waiters = 2;

	using section = detail::inner_section<Inner>;

	[[gnu::noinline]] bool lock_slowly(const u64 *until)
	{
		section in(inner);

		if (took_or_announced())
			return true;
		detail::sleeper me;

		queue.push_back(me);
		for (;;) {
			const bool told = in.sleep(me, until);

			if (!me.is_queued())
				return true;
			const bool is_free = !is_locked();

			if (is_free || !told) {
				queue.remove(me);
				word.store_relaxed(held_now());
				return is_free;
			}
			me.in_vain.set(static_cast<u8>(me.in_vain.get() + 1));
			me.woken.store_relaxed(false);
		}
	}

	/* True: it was free and is taken. False: it is marked as contended, so
	 * unlock() will look at the queue. */
	bool took_or_announced()
	{
		u8 now = word.load_relaxed();

		for (;;) {
			if (now == free) {
				if (word.compare_exchange_acquire(
					    now, held)) /* O3 */
					return true;
			} else if (now == waiters) {
				word.store_relaxed(held | waiters);
				return true;
			} else if (now & waiters ||
				   word.compare_exchange_relaxed(
					   now, held | waiters)) {
				return false;
			}
		}
	}

	[[gnu::noinline]] void unlock_slowly()
	{
		u8 found;

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
		if (first->in_vain.get() >= Patience) {
			queue.remove(*first);
			word.store_relaxed(held_now());
			first->wake();
		} else {
			word.store_relaxed(waiters);
			if (!first->is_told())
				first->wake();
		}
		return true;
	}

	u8 held_now() const { return queue.empty() ? held : held | waiters; }

	Inner inner;
	/* free, held, and waiters: see State */
	atomic<u8> word;
	detail::sleepers queue;
};

using mutex = patient_mutex<>;

} // namespace klock
