/* SPDX-License-Identifier: MIT */
/*
 * seq_count - a sequence that tells a reader whether what it read is whole
 *
 * It is the sequence of a seq_lock, for data and a writers' lock of your own:
 *
 *	klock::guard held(lock);		one writer at a time
 *	count.write_begin();
 *	a.store_relaxed(1);
 *	b.store_relaxed(2);
 *	count.write_end();
 *
 *	do {					a reader
 *		began = count.read_begin();
 *		x = a.load_relaxed();
 *		y = b.load_relaxed();
 *	} while (count.read_retry(began));
 *
 * The data are atomic<T>, read and written relaxed: a plain word that one CPU
 * writes while another reads it is a data race, whatever fences surround it.
 * Until read_retry() has returned false, the data may be a mixture of two
 * writes: do not use them as an index or a pointer before.
 *
 * Source:      Lameter, "Effective Synchronization on Linux/NUMA Systems",
 *              Gelato 2005 (the seqlock); Boehm, "Can Seqlocks Get Along with
 *              Programming Language Memory Models?", MSPC 2012, section 4: the
 *              fences, and why the data are atomic.
 * Size:        4 bytes; zero bytes: nothing was written yet
 *                                      Checked: unit/seq_lock: sizes
 * Context:     readers: any. A handler or an NMI that may have interrupted a
 *              writer on its CPU must use read_try_begin(): read_begin() would
 *              wait for ever. Writers: one at a time; with interrupts off if a
 *              handler reads. A writer is neither preempted nor switched away
 *              before write_end(), as readers spin that long: its lock is a
 *              spin lock. A checked one names the switch; the count cannot.
 *                      Checked: unit/seq_count: a writer that is switched away
 * Capacity:    if exactly 2^31 writes pass during one read, it may return parts
 *              of two values.
 *
 * State (sequence):  2n --write_begin--> 2n + 1 --write_end--> 2n + 2
 *
 * Ordering:
 *	O1  write_begin     fence_release           pairs with O5
 *	O2  write_end       sequence.store_release  pairs with O3, O4
 *	O3  read_begin      sequence.await_acquire  pairs with O2
 *	O4  read_try_begin  sequence.load_acquire   pairs with O2
 *	O5  read_retry      fence_acquire           pairs with O1
 *                              Checked: model/seq_count: orders needed
 *
 *	O1 and O5 are easily forgotten: a reader that read one word of a write
 *	reads, after O5, the odd sequence from before O1, or a later one. By O2
 *	to O4, the data of the last complete write are visible.
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

struct seq_count {
	constexpr seq_count() = default;

	/* The count after that many writes: for tests of the wrap. */
	constexpr explicit seq_count(u32 writes) : sequence(2 * writes) {}

	/* -- Writers: one at a time, by a lock of their own -- */

	/* Begins a write: readers retry from here on. */
	void write_begin()
	{
		sequence.store_relaxed(sequence.load_relaxed() + 1);
		fence_release(); /* O1 */
	}

	/* Ends a write: the data are whole again. */
	void write_end()
	{
		sequence.store_release(sequence.load_relaxed() + 1); /* O2 */
	}

	/* -- Readers: any number; they write nothing -- */

	/* Waits while a writer is inside; returns what read_retry() takes. */
	[[nodiscard]] u32 read_begin() const
	{
		return sequence.await_acquire(even{}); /* O3 */
	}

	/* Never waits: false while a writer is inside. */
	[[nodiscard]] bool read_try_begin(u32 &began) const
	{
		began = sequence.load_acquire(); /* O4 */
		return even{}(began);
	}

	/* Whether what was read since then may be a mixture: then read it
	 * again. */
	[[nodiscard]] bool read_retry(u32 began) const
	{
		fence_acquire(); /* O5 */
		return sequence.load_relaxed() != began;
	}

	/* Whether a writer is inside: a hint, stale on arrival. */
	[[nodiscard]] bool is_written() const
	{
		return !even{}(sequence.load_relaxed());
	}

      private:
	struct even {
		constexpr bool operator()(u32 now) const
		{
			return now % 2 == 0;
		}
	};

	/* Odd while a writer is inside. Readers only compare it for
	 * equality. */
	atomic<u32> sequence;
};

} // namespace klock
