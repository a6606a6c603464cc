/* SPDX-License-Identifier: MIT */
/*
 * peterson_lock - two CPUs, by loads, stores and fences only
 *
 * Algorithm:   An arriving CPU says that it wants to enter, then that it is the
 *              one to give way, and waits while the other wants to enter and
 *              has not given way since.
 * Source:      Peterson, Information Processing Letters 12(3), 1981; we differ:
 *              the fences, which its machine did not need.
 * Use when:    a CPU has no atomic read-modify-write, or to teach; and as a
 *              node of tournament_lock. Else ticket_lock is smaller and faster.
 * Size:        3 bytes; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    bounded: a CPU that has given way is bypassed once at most
 *                                      Checked: unit/peterson_lock: bypass
 * Capacity:    2 CPUs, numbered 0 and 1; any other number is outside the lock
 *                                      Checked: unit/peterson_lock: both enter
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard: it has its CPU's number. No recursion.
 *              Everybody waits for a preempted holder.
 * Assumes:     atomic loads and stores of a byte, and a full fence
 *
 * State (wants 0, wants 1, gives_way):  (0,0,x) free --lock by 0--> (1,0,0)
 *                held --lock by 1--> (1,1,1) 1 waits --unlock by 0--> (0,1,1)
 *
 * Ordering:
 *	O1  lock    fence_seq_cst         pairs with O1, O2, O3 of the other
 *	O2  lock    fence_seq_cst         pairs with O1, O2 of the other
 *	O3  lock    await_either_acquire  pairs with O4, O5 and O1 of the other
 *	O4  unlock  wants.store_release   pairs with O3, O6
 *	O5  lock    gives_way.store_release  pairs with O3
 *	O6  await_left  wants.await_eq_acquire  pairs with O4
 *                                      Checked: model/orders_needed
 *
 * No try_lock: a CPU that has just said that it wants to enter looks like one
 * that holds the lock. Of two that only try, both could give up.
 *
 * Cost:        uncontended: 3 stores, 2 full fences, no RMW, 1 line; handoff:
 *              3 to 5 misses                    Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct peterson_lock {
	/* CPUs that may hold or wait at once. */
	static constexpr u64 max_contenders = 2;

	/*
	 * Waits for its turn; on return CPU cpu (0 or 1) is the holder.
	 *
	 * O1 orders the two stores for every observer. Without it, 0 can find
	 * that 1 does not want the lock although 1's gives_way is the older
	 * one; then 1 reads 0's and enters too. x86, Armv8 and RISC-V forbid
	 * that by O5. C++ does not, and neither does Power: the litmus test R.
	 *
	 * O2 keeps the read of the other's `wants` behind both stores. Without
	 * it both CPUs read before either store can be seen (store buffers).
	 *
	 * O3 acquires the other's critical section from O4, or from O5 if the
	 * other has come back and given way since. The fence O1 would order
	 * that, too; O5 says it for ThreadSanitizer, which knows no fences, and
	 * costs nothing beside them.
	 */
	void lock(unsigned cpu)
	{
		const u8 me = static_cast<u8>(cpu);

		wants[me].store_relaxed(1);
		fence_seq_cst();	     /* O1 */
		gives_way.store_release(me); /* O5 */
		fence_seq_cst();	     /* O2 */
		wants[me ^ 1].await_either_acquire(
			[](u8 other) { return other == 0; }, gives_way,
			[me](u8 last) { return last != me; }); /* O3 */
	}

	/* Called by the holder, with the number that it gave to lock(). */
	void unlock(unsigned cpu) { wants[cpu].store_release(0); } /* O4 */

	/*
	 * For a number that several CPUs use in turn: waits until the last user
	 * has left. The CPU that uses it next, and no other, calls this before
	 * lock().
	 *
	 * O6 acquires that the last user has released: what is published next
	 * is then after its O4, so that a CPU that enters by it may free the
	 * lock. The fence O1 would order that, too; O6 is for ThreadSanitizer.
	 */
	void await_left(unsigned cpu) const
	{
		wants[cpu].await_eq_acquire(0); /* O6 */
	}

	/* Whether somebody holds it or is about to: a hint. */
	[[nodiscard]] bool is_locked() const { return takers() != 0; }

	/* Whether both want it: a hint, too. */
	[[nodiscard]] bool is_contended() const { return takers() > 1; }

      private:
	int takers() const
	{
		return wants[0].load_relaxed() + wants[1].load_relaxed();
	}

	/* 1: that CPU holds the lock or waits for it */
	atomic<u8> wants[2];
	/* The last to arrive, which lets the other go first. */
	atomic<u8> gives_way;
};

} // namespace klock
