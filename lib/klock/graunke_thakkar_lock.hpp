/* SPDX-License-Identifier: MIT */
/*
 * graunke_thakkar_lock - a queue in which each CPU has one flag, a line each
 *
 * Algorithm:   A releasing CPU inverts its flag. An arriving CPU exchanges into
 *              `tail` its number, and the value that its flag will have after
 *              its release. The number and value that it finds there say which
 *              flag it must watch, and for which value.
 * Source:      Graunke and Thakkar, IEEE Computer 23(6), 1990; Mellor-Crummey
 *              and Scott, ACM TOCS 9(1), 1991, section 2.3; we differ: tail
 *              holds a CPU's number, not an address, and the value to come, so
 *              that zero bytes are a free lock.
 * Use when:    every contender has a CPU number, and a line for each CPU is
 *              affordable: it needs no node, and no counter wraps. Else
 *              mcs_lock.
 * Size:        (Cpus + 1) cache lines
 *                                Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the exchange; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    Cpus, each at most once, under its own number; a number of Cpus
 *              or more is outside the array
 *                                Checked: unit/every lock: all CPUs
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard: it has its CPU's number. No recursion.
 *              Everybody waits for a preempted holder, and for any preempted
 *              waiter ahead.
 * Assumes:     an atomic exchange of 4 bytes
 *
 * State (tail):  (c, flag c) free --lock by d--> (d, not flag d) held
 *                --unlock, inverts d's flag--> (d, flag d) free
 *
 * Ordering:
 *	O1  lock    tail.exchange_acq_rel  pairs with O1 before it
 *	O2  lock    flag.await_eq_acquire  pairs with O3
 *	O3  unlock  flag.store_release     pairs with O2
 *                                      Checked: model/orders_needed
 *
 * No try_lock: tail may be read while the lock is free. After two more critical
 * sections of the same CPU, it may have the same value while the lock is held.
 * A compare-and-swap does not see the difference (ABA), and a CPU in the queue
 * cannot leave it.
 *
 * Cost:        uncontended: 1 RMW, 1 store, 2 lines; handoff with w waiters:
 *              3 misses, whatever w is            Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace klock {

template <unsigned Cpus>
struct graunke_thakkar_lock {
	static_assert(Cpus >= 1, "a lock needs a CPU");
	static_assert(Cpus <= u32{1} << 31,
		      "a number and a flag share 32 bits");

	/* CPUs that may hold or wait at once. */
	static constexpr u64 max_contenders = Cpus;

	/*
	 * Waits for its turn; on return CPU cpu, the caller, is the holder.
	 *
	 * O1: a flag has only two values, so its value two critical sections
	 * ago looks like the one that is waited for. The exchange passes on
	 * that the predecessor's flag has been inverted since.
	 */
	void lock(unsigned cpu)
	{
		const u32 mine = cpu << 1 | (flag_of(cpu).load_relaxed() ^ 1);
		const u32 found = tail.exchange_acq_rel(mine); /* O1 */
		const u8 turned = found & 1;

		flag_of(found >> 1).await_eq_acquire(turned); /* O2 */
	}

	/* Called by the holder, with the number that it gave to lock(). */
	void unlock(unsigned cpu)
	{
		const u8 turned = flag_of(cpu).load_relaxed() ^ 1;

		flag_of(cpu).store_release(turned); /* O3 */
	}

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		const u32 last = tail.load_relaxed();

		return flags[last >> 1].turned.load_relaxed() != (last & 1);
	}

	/* Whether somebody waits behind the holder, which asks: a hint. */
	[[nodiscard]] bool is_contended(unsigned cpu) const
	{
		return tail.load_relaxed() >> 1 != cpu;
	}

      private:
	struct flag {
		/* inverted by its CPU at each unlock */
		alignas(cache_line) atomic<u8> turned;
	};

	atomic<u8> &flag_of(u32 cpu) { return flags[cpu].turned; }

	/*
	 * Two times the last CPU to arrive, plus the value of its flag after
	 * its release. It comes first, as tests see by a lock's first bytes
	 * that a CPU has queued.
	 */
	alignas(cache_line) atomic<u32> tail;
	flag flags[Cpus];
};

} // namespace klock
