/* SPDX-License-Identifier: MIT */
/*
 * byte_mutex - a mutex of one byte, whose waiters sleep in a futex_table
 *
 *	constinit klock::futex_table<> lot;
 *
 *	struct inode {
 *		klock::byte_mutex<lot> lock;
 *	} file;
 *	klock::guard held(file.lock);
 *
 * Algorithm:   A byte holds two flags: held, and waiters. lock() and unlock()
 *              are a compare-and-swap each without waiters. A thread that finds
 *              it held sets the second flag and waits in the table, with the
 *              byte's address as its key, as long as both flags are set.
 *              unlock() with waiters takes the lock of that key's bucket,
 *              leaves the byte free, and wakes the first: a running thread may
 *              take it first (it barges). Until the woken waiter runs, nobody
 *              else is woken, and it works as if nobody waited. The woken
 *              waiter was told whether others wait: it takes the byte with the
 *              second flag then, or finds it held, sets the flag, and waits
 *              again, in front of those that were woken less often. To a waiter
 *              that was woken Patience times and found it taken each time,
 *              unlock() hands it over.
 * Source:      WTF's Lock over its ParkingLot; the table and the proof are
 *              ours: futex.hpp
 * Use when:    there are so many locks that a mutex's 16 bytes matter. Else
 *              mutex, whose waiters have a queue of their own.
 * Size:        1 byte; a waiter: 64 bytes or 36 on its stack; a table for all
 *                                      Checked: unit/futex: sizes
 * Zero bytes:  free                    Checked: unit/futex: sizes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases           Checked: model/futex: freed by the last
 * Fairness:    the first waiter is bypassed until it has been woken Patience
 *              (8) times, then by nobody; waiters that were woken equally often
 *              are FIFO
 *                              Checked: unit/futex: byte_mutex: hand-over
 * Capacity:    any number of threads; nothing to enforce
 *                                      Checked: native/sleep
 * Context:     lock(): threads, interrupts on, no spin lock held. unlock(),
 *              try_lock(): handlers, too. NMI: none. No recursion.
 * Assumes:     a compare-and-swap of one byte, and what the table assumes
 *
 * State (word):  while waiters is set, only the bucket's holder writes it;
 *		it is set if somebody waits and no woken one has yet to run
 *	free --lock--> held --unlock--> free
 *	held --lock waits--> held + waiters --unlock wakes the first--> free
 *	free --a woken waiter takes it--> held (+ waiters)
 *	held + waiters --unlock, the first has no patience--> held (+ waiters)
 *
 * Ordering:
 *	O1  lock            word.compare_exchange_acquire  pairs with O4, O5
 *	O2  try_lock        word.compare_exchange_acquire  pairs with O4, O5
 *	O3  lock_slowly     word.compare_exchange_acquire  pairs with O4, O5
 *	O4  unlock          word.compare_exchange_release  pairs with O1 to O3
 *	O5  pass_on         word.store_release             pairs with O1 to O3
 *                                      Checked: model/futex: orders needed
 *
 *	All else is under the bucket's lock, which orders it.
 *
 * Cost:        uncontended: 2 RMW, 1 line; one that sleeps: two passages of the
 *              bucket's lock, a park and an unpark
 *                                      Checked: model/futex: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/futex.hpp>

namespace klock {

namespace detail {
template <typename T>
struct referred;
template <typename T>
struct referred<T &> {
	using type = T;
};
} // namespace detail

/* Patience and Spins: as of a mutex. */
template <auto &Table, u32 Patience = 8,
	  u32 Spins = Patience ? spins_before_sleep : 0>
struct patient_byte_mutex {
	static_assert(Patience < 256, "patience is counted in a byte");
	static_assert(Patience || !Spins,
		      "Patience 0, strict order, has no Spins: they overtake");

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};
	/* For checks: its waiters give their CPU away. */
	using waiters_sleep = void;

	constexpr patient_byte_mutex() = default;
	patient_byte_mutex(const patient_byte_mutex &) = delete;
	patient_byte_mutex &operator=(const patient_byte_mutex &) = delete;

	/* Sleeps until the caller holds it. */
	void lock()
	{
		u8 found = free;

		if (!word.compare_exchange_acquire(found, held)) /* O1 */
			(void)lock_slowly(nullptr);
	}

	/* Takes it if it is free; never sleeps. */
	[[nodiscard]] bool try_lock()
	{
		u8 found = word.load_relaxed();

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

	/* Only the holder may call it; a free one becomes held by nobody, or
	 * stays free (checked_lock names that). */
	void unlock()
	{
		u8 found = held;

		if (!word.compare_exchange_release(found, free)) /* O4 */
			pass_on();
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
	using table = typename detail::referred<decltype(Table)>::type;

	/* Values of `word`. */
	static constexpr u8 free = 0, held = 1, waiters = 2;

	futex_key key() const { return {0, reinterpret_cast<usize>(this)}; }

	[[gnu::noinline]] bool lock_slowly(const u64 *until)
	{
		if (detail::spins_until<Spins>(until,
					       [&] { return try_lock(); }))
			return true;
		const auto both = [&] {
			return word.load_relaxed() == (held | waiters)
				       ? futex_look::same
				       : futex_look::changed;
		};
		u8 failed = 0, taken = held;

		while (!took_or_announced(taken)) {
			typename table::waiter me;

			me.failed_wakeups.set(failed);
			const futex_result why = Table.sleep_on(
				me, key(), both, until, table::any_bit);
			if (me.handed.get())
				return true;
			if (why == futex_result::woken) {
				failed = static_cast<u8>(failed + 1);
				taken = held_by(me.others.get());
			} else if (why != futex_result::changed) {
				return false;
			}
		}
		return true;
	}

	/* True: it was free and is taken. False: both flags are set, or it
	 * changes. */
	bool took_or_announced(u8 taken)
	{
		u8 now = word.load_relaxed();

		for (;;) {
			if (now == free) {
				if (word.compare_exchange_acquire(
					    now, taken)) /* O3 */
					return true;
			} else if (now & waiters ||
				   word.compare_exchange_relaxed(
					   now, held | waiters)) {
				return false;
			}
		}
	}

	/* Hands over, or leaves it free and wakes the first waiter. Its store
	 * is the last access. */
	[[gnu::noinline]] void pass_on()
	{
		using waiter = typename table::waiter;

		Table.wake_first(key(), [&](waiter *first, bool more) {
			if (first)
				first->others.set(more);
			if (first && first->failed_wakeups.get() >= Patience) {
				first->handed.set(true);
				word.store_relaxed(held_by(more));
			} else {
				word.store_release(free); /* O5 */
			}
		});
	}

	static u8 held_by(bool others_wait)
	{
		return others_wait ? held | waiters : held;
	}

	/* free, held, and waiters: see State */
	atomic<u8> word;
};

template <auto &Table>
using byte_mutex = patient_byte_mutex<Table>;

} // namespace klock
