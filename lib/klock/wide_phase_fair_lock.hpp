/* SPDX-License-Identifier: MIT */
/*
 * wide_phase_fair_lock - phase_fair_lock for over 16,383 readers
 *
 * Algorithm:   phase_fair_lock's, in four counters of 32 bits, each a word
 *              alone. A writer leaves by two steps: first it makes the next one
 *              the served one, then it takes its mark off, which lets readers
 *              in. The next writer marks only what is unmarked.
 * Source:      Brandenburg and Anderson, Real-Time Systems 46, 2010: PF-T; we
 *              differ: the order of the two steps at the end, and the next
 *              writer's wait between them, for Lifetime; stronger orders of the
 *              readers' tickets, which a wrap needs.
 * Use when:    more contexts read at once than phase_fair_lock<u16> counts.
 *              Else that one: it is half as large and has a try_lock.
 * Size:        16 bytes; no per-CPU state
 *                                Checked: unit/wide_phase_fair_lock: size
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    writers FIFO by the ticket. A reader waits for one writer at
 *              most, the one that is in or next when it arrives; those that
 *              wait with it enter together
 *                                  Checked: native/shared: who goes before
 * Capacity:    2^30 - 1 readers in or waiting at once, 2^32 writers: more
 *              contexts than there are     Checked: model/orders_needed
 * Context:     any; where a handler takes it too, either way, readers and
 *              writers by irq_guard and irq_shared_guard: a handler's reader
 *              may wait for a writer that waits for the reader it interrupted.
 *              NMI: try_lock_shared only. There is no try_lock: it would have
 *              to decide over all four counters at once. No recursion, of
 *              readers neither; no upgrade. Writers wait for a preempted holder
 *              or first waiter, readers for a preempted writer.
 * Assumes:     an atomic add, a compare-and-swap and a store of 4 bytes
 *
 * State (rin, rout, win, wout):  (r,r,n,n) free --lock--> (r+mark,r,n+1,n)
 *              written --unlock--> (r+mark,r,n+1,n+1) --> (r,r,n+1,n+1);
 *              (r,r,n,n) --lock_shared--> (r+1,r,n,n) read --unlock_shared-->
 *              (r+1,r+1,n,n)
 *
 * Ordering:
 *	O1   lock             win.fetch_add_acq_rel     pairs with O1
 *	O2   lock             wout.await_eq_acquire     pairs with O5
 *	O3   lock             rin.fetch_add_acquire     pairs with O6, O7, O10
 *	O4   lock             rout.await_eq_acquire     pairs with O9
 *	O5   unlock           wout.store_release        pairs with O2
 *	O6   unlock           rin.fetch_sub_release     pairs with O3, O7, O8,
 *	     O10
 *	O7   lock_shared      rin.fetch_add_acq_rel     pairs with O3, O6
 *	O8   lock_shared      rin.await_acquire         pairs with O6
 *	O9   unlock_shared    rout.fetch_add_release    pairs with O4
 *	O10  try_lock_shared  compare_exchange_acq_rel  pairs with O3, O6
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/phase_fair
 *
 *	O2 and O5: the look at rin behind them finds the mark of the writer
 *	before, or that it is off; one from before that mark would add two marks
 *	up. That look is relaxed: O3 follows. O3, O7 and O10 also hand on that a
 *	reader has left before, so that a writer does not read a rout of a whole
 *	wrap ago. O1 as in phase_fair_lock.
 *
 * Why wout is stored before the mark is off: whoever the mark keeps out may
 * free the lock as soon as it is off.
 *
 * Cost:        uncontended: 3 RMW, 1 store, 1 line; handoff with w waiters:
 *              w + 1 to 3 (w + 1) misses: all wait on one line, and each
 *              arrival and each writer's mark disturbs them again; a read:
 *              2 RMW, 1 line; among r readers: 2 misses, whose line is taken
 *              by turns                Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct wide_phase_fair_lock {
	/* Writers that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{1} << 32;
	/* Readers that may. */
	static constexpr u64 max_readers = max_contenders / 4 - 1;

	constexpr wide_phase_fair_lock() = default;

	/*
	 * The lock as it is after `served` writes and as many reads: for tests
	 * of the wrap.
	 */
	constexpr explicit wide_phase_fair_lock(u32 served)
	    : rin(served * one), wout(served), rout(served * one), win(served)
	{
	}

	/* -- A writer: alone -- */

	/* Waits for its turn, then for the readers; on return it holds. */
	void lock()
	{
		const u32 mine = take_number();

		await_turn(mine);
		await_readers(stop_readers(mine));
	}

	/* The holder's alone. Its mark is a part of rin; wout is its own. */
	void unlock()
	{
		const u32 mine = wout.load_relaxed();

		wout.store_release(successor(mine));	 /* O5 */
		(void)rin.fetch_sub_release(mark(mine)); /* O6 */
	}

	/* -- A reader: with others -- */

	/* Waits for the writer that it finds, if any, and for no other. */
	void lock_shared()
	{
		if (const u32 found = arrive_shared())
			await_writer(found);
	}

	/*
	 * Takes the lock to read if no writer is in or waits for readers; never
	 * waits. Writes nothing where it fails.
	 */
	[[nodiscard]] bool try_lock_shared()
	{
		u32 in = rin.load_relaxed();

		do {
			if (marked(in) != 0)
				return false;
		} while (!rin.compare_exchange_acq_rel(in, in + one)); /* O10 */
		return true;
	}

	/* A reader's. Others add to it as well. */
	void unlock_shared() { (void)rout.fetch_add_release(one); /* O9 */ }

	/* Whether somebody holds it, or waits: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return rin.load_relaxed() != rout.load_relaxed() ||
		       win.load_relaxed() != wout.load_relaxed();
	}

      protected:
	/*
	 * lock() and lock_shared() for counted_lock.hpp: where they have to
	 * wait they do so by waits(function), and return true. A writer looks
	 * at each counter once more.
	 */
	template <typename Waits>
	[[nodiscard, gnu::always_inline]] bool lock_telling(Waits waits)
	{
		const u32 mine = take_number();
		bool has_to = wout.load_relaxed() != mine ||
			      marked(rin.load_relaxed()) != 0;

		if (has_to) {
			waits([this, mine] {
				await_turn(mine);
				await_readers(stop_readers(mine));
			});
			return true;
		}
		await_turn(mine);
		const u32 readers = stop_readers(mine);

		has_to = rout.load_relaxed() != readers;
		if (has_to)
			waits([this, readers] { await_readers(readers); });
		else
			await_readers(readers);
		return has_to;
	}
	/* A reader's. */
	template <typename Waits>
	[[nodiscard, gnu::always_inline]] bool lock_shared_telling(Waits waits)
	{
		const u32 found = arrive_shared();

		if (found)
			waits([this, found] { await_writer(found); });
		return found;
	}

      private:
	/* rin's two lowest bits are the writer's, readers count above. */
	static constexpr u32 phase = 1;
	static constexpr u32 present = 2;
	static constexpr u32 one = 4;

	/* The writer of this ticket sets it in rin. */
	static constexpr u32 mark(u32 ticket)
	{
		return present | (ticket & phase);
	}
	static constexpr u32 marked(u32 in) { return in & (present | phase); }
	static constexpr u32 counted(u32 in) { return in - marked(in); }

	/* -- A writer's steps, and a reader's -- */

	u32 take_number() { return win.fetch_add_acq_rel(1); /* O1 */ }
	/* Until it is the served one, and the one before has left. */
	void await_turn(u32 mine) const
	{
		wout.await_eq_acquire(mine); /* O2 */
		rin.await_relaxed([](u32 now) { return marked(now) == 0; });
	}
	/* Those that were in: so many must have gone. */
	u32 stop_readers(u32 mine)
	{
		return counted(rin.fetch_add_acquire(mark(mine))); /* O3 */
	}
	void await_readers(u32 readers) const
	{
		rout.await_eq_acquire(readers); /* O4 */
	}

	/* The mark of the writer that it finds; 0: none. */
	u32 arrive_shared()
	{
		return marked(rin.fetch_add_acq_rel(one)); /* O7 */
	}
	void await_writer(u32 found) const
	{
		rin.await_acquire([found](u32 now) {
			return marked(now) != found;
		}); /* O8 */
	}

	/* Readers that came; the writer's mark. The lock lies in one line. */
	alignas(16) atomic<u32> rin;
	/* The writer that is served */
	atomic<u32> wout;
	/* Readers that went */
	atomic<u32> rout;
	/* The writer's number that is taken next */
	atomic<u32> win;
};

} // namespace klock
