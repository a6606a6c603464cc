/* SPDX-License-Identifier: MIT */
/*
 * reader_lock - a cache line per CPU: for data that is hardly ever written
 *
 * Algorithm:   A reader marks its CPU's line, and is inside unless there is a
 *              writer; if there is, it takes the mark back and waits. Writers
 *              queue by tickets; the one whose turn it is waits until every
 *              line is unmarked. Both store first and read afterwards, so at
 *              least one of the two sees the other.
 * Source:      Hsieh and Weihl, MIT-LCS-TR-521, 1991; the "big reader" locks
 *              of kernels of about 2000. Reader and writer meet as in Dekker's
 *              algorithm (Dijkstra, EWD-123, 1965); we differ: tickets for the
 *              writers, depth for nested readers.
 * Use when:    all CPUs read all the time and hardly any writes. Readers share
 *              no line, so a read costs the same however many there are. A
 *              writer looks at a line of each CPU, and keeps all readers out.
 *              Readers must not starve: phase_fair_lock. Small: rw_ticket_lock.
 * Size:        (Cpus + 1) cache lines  Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    writers FIFO by the ticket, before any reader that waits;
 *              readers may starve    Checked: native/shared: who goes before
 * Capacity:    Cpus readers, each under its own number; a number of Cpus or
 *              more is outside the array. 2^16 - 1 writers that hold or wait:
 *              with one more both counters are equal, and readers enter. 255
 *              nested reads of one CPU.
 *                                      Checked: unit/reader_lock: all CPUs,
 *                                      unit/reader_lock: at capacity
 * Context:     any but NMI: if an NMI interrupts lock_shared() in the middle,
 *              its read would look nested in a read that has not begun. A
 *              reader stays on its CPU. Reads nest: a reader, and a handler
 *              that interrupts it, may read again. If handlers read, interrupts
 *              must be off in lock_shared and unlock_shared, and may be on in
 *              between; irq_shared_guard keeps them off throughout. If handlers
 *              read or write, writers use irq_guard. No recursion of writers,
 *              no upgrade. All wait for a preempted writer, a writer for a
 *              preempted reader.
 * Assumes:     a full fence, an atomic add, a byte that is stored alone
 *
 * State (next, owner; marks):  (n,n; 0) free --lock--> (n+1,n; 0) written
 *              --unlock--> (n+1,n+1; 0);  (n,n; 0) --lock_shared--> (n,n; 1)
 *              read --unlock_shared--> (n,n; 0)
 *
 * Ordering:
 *	O1  lock           word.await_acquire        pairs with O4
 *	O2  lock           fence_seq_cst             pairs with O5
 *	O3  lock           reading.await_eq_acquire  pairs with O7
 *	O4  unlock         word.fetch_add_release    pairs with O1, O6
 *	O5  enter          fence_seq_cst             pairs with O2
 *	O6  enter          word.load_acquire         pairs with O4
 *	O7  unlock_shared  store_release             pairs with O3
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/reader
 *
 * No try_lock: a writer that gives up has kept readers out meanwhile, and with
 * a reader that tries at the same time both could fail.
 *
 * Cost:        uncontended: 2 RMW, 1 full fence, Cpus + 1 lines; handoff with
 *              w waiters: w + 1 to 2 (w + 1) misses: all wait on one line; a
 *              read: 2 stores, 1 full fence, no RMW, 2 lines; among r readers:
 *              0 misses, however many they are
 *                                      Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace klock {

template <unsigned Cpus>
struct reader_lock {
	static_assert(Cpus >= 1, "a lock needs a CPU");

	/* Writers that may hold or wait at once. */
	static constexpr u64 max_contenders = (u64{1} << 16) - 1;
	/* CPUs that may read at once. */
	static constexpr u64 max_readers = Cpus;

	constexpr reader_lock() = default;
	reader_lock(const reader_lock &) = delete;
	reader_lock &operator=(const reader_lock &) = delete;

	/* -- A writer: alone -- */

	/*
	 * Waits for its turn, then for the readers; on return the caller is the
	 * holder.
	 */
	void lock() { lock_watched(unwatched{}); }

	/* Only the holder may call it. An add, as arrivals change the same
	 * word. */
	void unlock()
	{
		const u32 mine = owner_of(word.load_relaxed());

		(void)word.fetch_add_release(mine == last ? back_to_zero
							  : 1); /* O4 */
	}

	/* -- A reader: with others -- */

	/*
	 * Waits until no writer is inside or waits. cpu: the caller's number,
	 * which no other CPU uses until unlock_shared(cpu).
	 */
	void lock_shared(unsigned cpu)
	{
		lock_shared_watched(unwatched{}, cpu);
	}

	/* Takes the lock to read if no writer is inside or waits; never
	 * waits. */
	[[nodiscard]] bool try_lock_shared(unsigned cpu)
	{
		atomic<u8> &mine = marks[cpu].reading;
		const u8 depth = mine.load_relaxed();

		if (depth == 0)
			return enter(mine);
		mine.store_relaxed(static_cast<u8>(depth + 1));
		return true;
	}

	/* Called by a reader, with the number that it gave to lock_shared(). */
	void unlock_shared(unsigned cpu)
	{
		atomic<u8> &mine = marks[cpu].reading;
		const u8 depth = mine.load_relaxed();

		mine.store_release(static_cast<u8>(depth - 1)); /* O7 */
	}

	/* Whether somebody writes, waits to, or reads: a hint. */
	[[nodiscard]] bool is_locked() const
	{
		return is_read() || !free(word.load_relaxed());
	}

      protected:
	/*
	 * lock() and lock_shared(), whose wait `watch` sees: types.hpp. The add
	 * is relaxed, as in narrow_ticket_lock: both counters are one location.
	 */
	template <typename Watch>
	void lock_watched(Watch watch)
	{
		const u32 found = word.fetch_add_relaxed(one_next);

		watch([this, found] { return !free(found) || is_read(); },
		      [this, found] { await_turn(next_of(found)); });
	}
	template <typename Watch>
	void lock_shared_watched(Watch watch, unsigned cpu)
	{
		watch([this, cpu] { return !try_lock_shared(cpu); },
		      [this, cpu] {
			      while (!try_lock_shared(cpu))
				      word.await_relaxed([](u32 now) {
					      return free(now);
				      });
		      },
		      [] {});
	}

      private:
	/* The last number before the wrap. */
	static constexpr u32 last = 0xffff;

	/* Added to the word: by an arrival; by unlock() where owner wraps. */
	static constexpr u32 one_next = 0x10000;
	static constexpr u32 back_to_zero = 0u - last;

	static constexpr u32 next_of(u32 both) { return both >> 16; }
	static constexpr u32 owner_of(u32 both) { return both & last; }
	static constexpr bool free(u32 both)
	{
		return next_of(both) == owner_of(both);
	}

	/* Waits for the writers before it, and then for the readers. */
	void await_turn(u32 mine) const
	{
		word.await_acquire([mine](u32 now) {
			return owner_of(now) == mine;
		});		 /* O1 */
		fence_seq_cst(); /* O2 */
		for (unsigned cpu = 0; cpu < Cpus; cpu++)
			marks[cpu].reading.await_eq_acquire(0); /* O3 */
	}

	bool is_read() const
	{
		bool read = false;

		for (unsigned cpu = 0; cpu < Cpus; cpu++)
			read |= marks[cpu].reading.load_relaxed() != 0;
		return read;
	}

	/*
	 * O2 and O5 make one of the two see the other: a writer this mark, or
	 * this reader the writer. Taking the mark back is relaxed: the fence
	 * before it releases all that this CPU has read.
	 */
	bool enter(atomic<u8> &mine)
	{
		mine.store_relaxed(1);
		fence_seq_cst();	       /* O5 */
		if (free(word.load_acquire())) /* O6 */
			return true;
		mine.store_relaxed(0);
		return false;
	}

	struct alignas(cache_line) line {
		/* how deep the reads of this CPU nest; 0: none */
		atomic<u8> reading;
	};

	/* The writers' tickets: next in the upper half, owner in the lower. */
	alignas(cache_line) atomic<u32> word;
	line marks[Cpus];
};

} // namespace klock
