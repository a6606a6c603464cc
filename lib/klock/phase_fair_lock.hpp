/* SPDX-License-Identifier: MIT */
/*
 * phase_fair_lock - readers and writers by turns: a reader waits for one writer
 *
 * Algorithm:   Readers count themselves in `rin` and out in `rout`. A writer
 *              takes a ticket from `win`, waits for its turn at `wout`, marks
 *              itself present in rin, and waits until the readers that it found
 *              there have left. A reader that finds a mark waits until the mark
 *              has changed. The mark has a phase bit that alternates from
 *              writer to writer, so a waiting reader enters when the mark is
 *              gone, or when it is the next writer's. An upgradable reader
 *              takes two tickets, waits for its turn and sets no mark: readers
 *              come and go, while writers and other upgradable readers wait. To
 *              upgrade, it writes with the second ticket.
 * Source:      Brandenburg and Anderson, Real-Time Systems 46, 2010: PF-T; we
 *              differ: all four in one word, so that try_lock is one
 *              compare-and-swap, and rin and wout in one half of it, so that a
 *              writer leaves by one add; stronger orders of the readers'
 *              tickets, which a wrap of narrow counters needs. One reader
 *              that may upgrade: the update locks of databases, Gray and
 *              Reuter, Transaction Processing, 1992; by two tickets: ours.
 * Use when:    writers come all the time, and a reader must not wait for more
 *              than one of them. Strict order of arrival: rw_ticket_lock. Many
 *              CPUs read, and hardly any writes: reader_lock.
 * Size:        4 or 8 bytes; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    writers FIFO by the ticket. A reader waits for one writer at
 *              most: the one that holds the lock, or is next, when the reader
 *              arrives. Readers that wait for the same writer enter together
 *                                  Checked: native/shared: who goes before
 * Capacity:    2^(bits - 2) - 1 readers that hold or wait at once: 63 or 16383.
 *              With one more, the count is 0 again. 2^bits writers; an
 *              upgradable reader counts as two. Contexts, not CPUs.
 *                                  Checked: unit/phase_fair_lock: 63 readers
 * Context:     any; where a handler takes it too, either way, readers and
 *              writers by irq_guard and irq_shared_guard: a handler's reader
 *              may wait for a writer that waits for the reader it interrupted.
 *              NMI: try_lock and try_lock_shared only. No recursion, not even
 *              of readers. A reader that may upgrade must use
 *              lock_upgradable(). Writers wait for a preempted holder or first
 *              waiter, readers for a preempted writer.
 * Assumes:     an atomic add on each field and on the first two together, a
 *              compare-and-swap over all
 * Sizes:       try_lock, try_lock_shared: one compare-and-swap decides over all
 *              four; otherwise the phase bit could change twice (below). It
 *              waits for the unlock before it: 2 cycles on a Zen 5. The same
 *              holds for an upgradable reader's.
 *
 * State (rin, rout, win, wout):  (r,r,n,n) free --lock--> (r+mark,r,n+1,n)
 *              written --unlock--> (r,r,n+1,n+1);  (r,r,n,n) --lock_shared-->
 *              (r+1,r,n,n) read --unlock_shared--> (r+1,r+1,n,n);
 *              (r,r,n,n) --lock_upgradable--> (r,r,n+2,n) --upgrade-->
 *              (r+mark,r,n+2,n+1) written, or --unlock_upgradable-->
 *              (r,r,n+2,n+2); written --downgrade--> (r+1,r,n+1,n+1) read
 *
 * Ordering:
 *	O1   lock                 win.fetch_add_acq_rel     pairs with O1
 *	O2   lock                 rin.fetch_add_acquire     pairs with O5,
 *	     O6, O9, O12
 *	O3   lock                 rout.await_eq_acquire     pairs with O8
 *	O4   try_lock             compare_exchange_acquire  pairs with O5,
 *	     O8, O12
 *	O5   unlock               advance_release           pairs with O2,
 *	     O4, O6, O7, O9, O10, O11
 *	O6   lock_shared          rin.fetch_add_acq_rel     pairs with O2, O5
 *	O7   lock_shared          rin.await_acquire         pairs with O5
 *	O8   unlock_shared        rout.fetch_add_release    pairs with O3,
 *	     O4, O13
 *	O9   try_lock_shared      compare_exchange_acq_rel  pairs with O2, O5
 *	O10  lock_upgradable      wout.await_eq_acquire     pairs with O5
 *	O11  try_lock_upgradable  compare_exchange_acquire  pairs with O5
 *	O12  unlock_upgradable    advance_release           pairs with O2, O4
 *	O13  try_upgrade          compare_exchange_acquire  pairs with O8
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/phase_fair
 *
 * Why try_lock is one compare-and-swap: if it took a ticket, looked, and gave
 * the ticket back, that would be a write phase that does not wait for readers.
 * The phase bit could then change twice under a slow reader, which would wait
 * for a writer that waits for it.
 *
 * Why an upgradable reader takes two tickets: with one ticket, a reader that
 * leaves without an upgrade would skip a phase. The writers before and after it
 * would have the same mark, and a slow reader would deadlock as above. Two
 * tickets skip no phase. An upgrade while readers are in uses both: the first
 * for an empty write, which lets in the waiting readers, the second for the
 * real one. If no reader is counted, no reader is slow, and the empty write is
 * left out. A writer has one ticket. So it cannot become upgradable: its next
 * mark would need a second one.
 *
 * Cost:        uncontended: 3 RMW, 1 line; handoff with w waiters: w + 1 to
 *              3 (w + 1) misses: all wait on one line, and each arrival and
 *              each writer's mark disturbs them again; a read: 2 RMW, 1 line;
 *              among r readers: 2 misses, whose line is taken by turns
 *                                      Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

template <counter Counter>
struct phase_fair_lock {
	static_assert(sizeof(Counter) <= 2,
		      "phase_fair_lock: u8 or u16, for 16383 readers at most");

	/* Writers that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{1} << 8 * sizeof(Counter);
	/* Readers that may hold or wait at once. */
	static constexpr u64 max_readers = max_contenders / 4 - 1;

	constexpr phase_fair_lock() = default;

	/*
	 * The lock as it is after `served` writes and as many reads: for tests
	 * of the wrap.
	 */
	constexpr explicit phase_fair_lock(Counter served)
	    : counts(fields<Counter, 4>{
		      {served, static_cast<Counter>(served * 4), served,
		       static_cast<Counter>(served * 4)}})
	{
	}

	/* -- A writer: alone -- */

	/*
	 * Waits for its turn, then for the readers; on return the caller is the
	 * holder.
	 */
	void lock() { take_turn(take_numbers(1)); }

	/*
	 * Takes the lock if nobody holds it or waits; never waits. Writes
	 * nothing if it fails.
	 */
	[[nodiscard]] bool try_lock()
	{
		const Counter out = counts.load_relaxed(rout);
		const Counter mine = counts.load_relaxed(wout);

		if (counts.load_relaxed(rin) != out ||
		    counts.load_relaxed(win) != mine)
			return false;
		return counts.compare_exchange_acquire(
			{{mine, out, mine, out}},
			{{mine, static_cast<Counter>(out | mark(mine)),
			  successor(mine), out}}); /* O4 */
	}

	/* Only the holder may call it. It removes its mark from rin, and
	 * advances wout, which no other CPU writes. */
	void unlock()
	{
		const Counter mine = counts.load_relaxed(wout);

		counts.advance_release({{mine, mark(mine), 0, 0}},
				       {{successor(mine), 0, 0, 0}}); /* O5 */
	}

	/*
	 * Only the holder may call it. It becomes a reader, and so do the
	 * readers that wait; no writer comes between. It leaves by
	 * unlock_shared(). A guard has its own downgrade().
	 */
	void downgrade()
	{
		(void)counts.fetch_add_relaxed(rin, one);
		unlock();
	}

	/* -- A reader: with others -- */

	/* Waits for the writer that it finds, if any, and for no other; on
	 * return the caller is a reader. */
	void lock_shared() { lock_shared_watched(unwatched{}); }

	/*
	 * Takes the lock to read if no writer is in or waits for readers; never
	 * waits. Writes nothing if it fails.
	 */
	[[nodiscard]] bool try_lock_shared()
	{
		fields<Counter, 4> now, then;

		do {
			now = {{counts.load_relaxed(wout),
				counts.load_relaxed(rin),
				counts.load_relaxed(win),
				counts.load_relaxed(rout)}};
			if (marked(now.at[rin.number]) != 0)
				return false;
			then = now;
			then.at[rin.number] =
				static_cast<Counter>(now.at[rin.number] + one);
		} while (!counts.compare_exchange_acq_rel(now, then)); /* O9 */
		return true;
	}

	/* Only a reader may call it. An add: others change rout, too. */
	void unlock_shared()
	{
		(void)counts.fetch_add_release(rout, one); /* O8 */
	}

	/* -- A reader that may write: with readers, alone among its like -- */

	/*
	 * Waits for its turn among the writers, but for no reader. On return
	 * the caller is a reader, and no other CPU writes until it leaves.
	 */
	void lock_upgradable()
	{
		counts.await_eq_acquire(wout, take_numbers(2)); /* O10 */
	}

	/*
	 * lock_upgradable() if no writer and no other upgradable reader holds
	 * or waits; never waits. Writes nothing if it fails.
	 */
	[[nodiscard]] bool try_lock_upgradable()
	{
		fields<Counter, 4> now, then;

		do {
			now = all();
			if (now.at[win.number] != now.at[wout.number])
				return false;
			then = now;
			then.at[win.number] =
				advanced(now.at[win.number], Counter{2});
		} while (!counts.compare_exchange_acquire(now, then)); /* O11 */
		return true;
	}

	/* Only the upgradable reader may call it, if it has not upgraded. */
	void unlock_upgradable()
	{
		const Counter mine = counts.load_relaxed(wout);

		counts.advance_release(
			{{mine, 0, 0, 0}},
			{{advanced(mine, Counter{2}), 0, 0, 0}}); /* O12 */
	}

	/*
	 * Only the upgradable reader may call it. It waits for the readers that
	 * are in, and may once let in readers that arrive meanwhile. On return
	 * the caller is the holder, as by lock(), and leaves by unlock() or
	 * downgrade(). What it read before is still valid. It deadlocks if a
	 * reader waits for something that the caller holds.
	 */
	void upgrade()
	{
		if (try_upgrade())
			return;
		const Counter mine = counts.load_relaxed(wout);

		await_readers(stop_readers(mine));
		unlock();
		await_readers(stop_readers(successor(mine)));
	}

	/*
	 * Becomes the holder if no reader is in; never waits. If it fails, it
	 * has written nothing, and the caller is still upgradable.
	 */
	[[nodiscard]] bool try_upgrade()
	{
		fields<Counter, 4> now, then;

		do {
			now = all();
			if (now.at[rin.number] != now.at[rout.number])
				return false;
			then = now;
			then.at[wout.number] = successor(now.at[wout.number]);
			then.at[rin.number] = static_cast<Counter>(
				now.at[rin.number] |
				mark(then.at[wout.number]));
		} while (!counts.compare_exchange_acquire(now, then)); /* O13 */
		return true;
	}

	/* Whether somebody holds it, or waits: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return counts.load_relaxed(rin) != counts.load_relaxed(rout) ||
		       counts.load_relaxed(win) != counts.load_relaxed(wout);
	}

      protected:
	/*
	 * lock() and lock_shared(), whose wait `watch` sees: types.hpp. A
	 * writer that waits for its turn, and then for readers, has one wait.
	 */
	template <typename Watch>
	void lock_watched(Watch watch)
	{
		const Counter mine = take_numbers(1);
		const auto is_early = [this, mine] {
			return counts.load_relaxed(wout) != mine;
		};
		const auto go_on = [this, mine, watch] {
			const Counter readers = stop_readers(mine);
			const auto has_to = [this, readers] {
				return counts.load_relaxed(rout) != readers;
			};

			watch(has_to,
			      [this, readers] { await_readers(readers); });
		};

		watch(
			is_early, [this, mine] { take_turn(mine); }, go_on);
	}
	template <typename Watch>
	void lock_shared_watched(Watch watch)
	{
		if (const Counter found = arrive_shared())
			watch([] { return true; },
			      [this, found] { await_writer(found); });
	}

      private:
	/* unlock() changes the first two by one add; rin is the upper. */
	static constexpr field<0> wout{};
	static constexpr field<1> rin{};
	static constexpr field<2> win{};
	static constexpr field<3> rout{};

	/* The two lowest bits of rin are the writer's; readers count above. */
	static constexpr Counter phase = 1;
	static constexpr Counter present = 2;
	static constexpr Counter one = 4;

	/* The mark that the writer with this ticket sets in rin. */
	static constexpr Counter mark(Counter ticket)
	{
		return static_cast<Counter>(present | (ticket & phase));
	}
	static constexpr Counter marked(Counter in)
	{
		return in & (present | phase);
	}
	static constexpr Counter counted(Counter in)
	{
		return static_cast<Counter>(in - marked(in));
	}

	/* -- A writer's steps, and a reader's -- */

	/* Loads the four counters one after another, not as one snapshot. */
	fields<Counter, 4> all() const
	{
		return {{counts.load_relaxed(wout), counts.load_relaxed(rin),
			 counts.load_relaxed(win), counts.load_relaxed(rout)}};
	}

	/*
	 * Takes so many tickets in a row, and returns the first. O1 prevents
	 * reading a wout of one wrap ago: ticket_lock, take_ticket().
	 */
	Counter take_numbers(Counter many)
	{
		return counts.fetch_add_acq_rel(win, many); /* O1 */
	}
	/*
	 * Marks the lock as written. Returns the value of rout at which all
	 * readers have left. O2, O6 and O9 each pass on the departures before,
	 * so no writer reads a rout of one wrap ago.
	 */
	Counter stop_readers(Counter mine)
	{
		return counted(
			counts.fetch_add_acquire(rin, mark(mine))); /* O2 */
	}
	/*
	 * Waits for its turn, then for the readers. The wait for wout is
	 * relaxed: O2 reads rin, which the writer before wrote last, by its O5.
	 */
	void take_turn(Counter mine)
	{
		counts.await_eq_relaxed(wout, mine);
		await_readers(stop_readers(mine));
	}
	void await_readers(Counter readers) const
	{
		counts.await_eq_acquire(rout, readers); /* O3 */
	}

	/* Counts the caller as a reader. Returns the mark that it found; 0:
	 * none. */
	Counter arrive_shared()
	{
		return marked(counts.fetch_add_acq_rel(rin, one)); /* O6 */
	}
	void await_writer(Counter found) const
	{
		counts.await_acquire(rin, [found](Counter now) {
			return marked(now) != found;
		}); /* O7 */
	}

	/* wout: the ticket that is served; win: the next to be taken; rin,
	 * rout: how many readers arrived, and left */
	paired_fields<Counter> counts;
};

} // namespace klock
