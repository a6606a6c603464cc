/* SPDX-License-Identifier: MIT */
/*
 * bakery_lock - first come, first served, by loads, stores and fences only
 *
 * Algorithm:   An arriving CPU takes a number above all that it sees, and waits
 *              for every CPU with a smaller one; if two took the same number,
 *              the smaller CPU goes first. Numbers start again from 1 when no
 *              CPU has one.
 * Source:      Lamport, CACM 17(8), 1974; we differ: one register for each CPU
 *              (one of its values says that the CPU is choosing), the fences,
 *              and an end of the numbers that is safe.
 * Use when:    CPUs have no atomic read-modify-write and order matters, or to
 *              teach. Two CPUs: peterson_lock. Order does not matter:
 *              tournament_lock. With read-modify-write: ticket_lock.
 * Size:        4 x Cpus bytes. By loads and stores no lock for n CPUs has fewer
 *              than n registers (Burns and Lynch, Information and Computation
 *              107(2), 1993); this has n.
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the doorway: a CPU that has its number before another
 *              arrives is served before it
 *                                      Checked: unit/bakery_lock: doorway
 * Capacity:    Cpus, each at most once, under its own number; a number of Cpus
 *              or more is outside the array
 *                                      Checked: unit/every lock: all CPUs
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard: it has its CPU's number. No recursion.
 *              Everybody waits for a preempted holder, for a preempted waiter
 *              ahead, and for one that is preempted while it chooses.
 * Assumes:     atomic loads and stores of 4 bytes, and a full fence
 *
 * State (number c, of each CPU c):  0 away --lock--> choosing --> n taken, held
 *                when no (n, c) is smaller --unlock--> 0
 *
 * Ordering:
 *	O1  lock    fence_seq_cst         pairs with O2, O3 of others
 *	O2  lock    fence_seq_cst         pairs with O1, O2 of others
 *	O3  lock    number.await_acquire  pairs with O4, and O1 of others
 *	O4  unlock  number.store_release  pairs with O3
 *                                      Checked: model/orders_needed
 *
 *	Let i and j wait, and i's O2 be before j's in the order of all fences.
 *	Then j reads i's number after its own O2, and passes only if its number
 *	is smaller, or the same and j < i. If i has passed j, it read j's
 *	register before j was choosing. So i's O2 is before j's O1: j saw i's
 *	number when it chose, and took a larger one. So they cannot both pass.
 *	O3 acquires the other's critical section from O4, or, if the other has
 *	come back since, from the number that it stored after its O1.
 *
 * Numbers are limited: no CPU takes a number above Last. A CPU that sees Last
 * in use gives up its position and waits until Last is served; every CPU with a
 * smaller number is served by then, so numbers start again from 1. That takes
 * 2^32 - 2 acquisitions without a moment in which nobody waits. CPUs that are
 * turned away then are in no order among themselves.
 *
 * No try_lock: a CPU that is choosing may turn out to be first or last. If two
 * CPUs only try, both might give up.
 *
 * Cost:        uncontended: 3 stores, 2 full fences, 2 x Cpus loads, no RMW,
 *              Cpus / 16 lines; handoff with w waiters: up to 3 (w + 1)
 *              misses: 16 CPUs share a line            Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/* Last: the last number that is taken; smaller ones are for tests. */
template <unsigned Cpus, u32 Last = ~u32{0} - 1>
struct bakery_lock {
	static_assert(Cpus >= 1, "a lock needs a CPU");
	static_assert(Last >= 1 && Last < ~u32{0}, "one value means choosing");

	/* CPUs that may hold or wait at once. */
	static constexpr u64 max_contenders = Cpus;

	/* Waits for its turn; on return CPU cpu, the caller, is the holder. */
	void lock(unsigned cpu)
	{
		u32 mine = choose(cpu);

		while (mine == away) {
			await_last_served();
			mine = choose(cpu);
		}
		await_turn(cpu, mine);
	}

	/* Called by the holder, with the number that it gave to lock(). */
	void unlock(unsigned cpu) { number[cpu].store_release(away); } /* O4 */

	/*
	 * Whether that CPU has a number: it holds or waits. CPUs that arrive
	 * later are served after it. A hint, stale on arrival.
	 */
	[[nodiscard]] bool is_queued(unsigned cpu) const
	{
		return is_taken(number[cpu].load_relaxed());
	}

	/* Whether somebody holds it or waits: a hint, too. */
	[[nodiscard]] bool is_locked() const { return queued() != 0; }

	/* Whether more than one does: a hint, too. */
	[[nodiscard]] bool is_contended() const { return queued() > 1; }

      private:
	/* The values of a register that are no number. */
	static constexpr u32 away = 0;
	static constexpr u32 choosing = ~u32{0};

	static constexpr bool is_taken(u32 v)
	{
		return v != away && v != choosing;
	}

	/* The doorway. Returns the number; away: Last is in use. */
	u32 choose(unsigned cpu)
	{
		number[cpu].store_relaxed(choosing);
		fence_seq_cst(); /* O1 */

		const u32 largest = largest_taken();
		const u32 mine = largest < Last ? largest + 1 : away;

		number[cpu].store_relaxed(mine);
		fence_seq_cst(); /* O2 */
		return mine;
	}

	u32 largest_taken() const
	{
		u32 largest = 0;

		for (unsigned i = 0; i < Cpus; i++) {
			const u32 v = number[i].load_relaxed();

			if (is_taken(v) && v > largest)
				largest = v;
		}
		return largest;
	}

	void await_turn(unsigned cpu, u32 mine)
	{
		for (unsigned i = 0; i < Cpus; i++) {
			if (i == cpu)
				continue;
			number[i].await_acquire([=](u32 v) {
				return v != choosing &&
				       (v == away || v > mine ||
					(v == mine && i > cpu));
			}); /* O3 */
		}
	}

	[[gnu::noinline]] void await_last_served() const
	{
		for (unsigned i = 0; i < Cpus; i++)
			number[i].await_relaxed(
				[](u32 v) { return v != Last; });
	}

	unsigned queued() const
	{
		unsigned count = 0;

		for (unsigned i = 0; i < Cpus; i++)
			count += is_queued(i);
		return count;
	}

	/* by CPU: away, choosing, or the number that it has taken */
	atomic<u32> number[Cpus];
};

static_assert(sizeof(bakery_lock<2>) == 8);
static_assert(sizeof(bakery_lock<5>) == 20);

} // namespace klock
