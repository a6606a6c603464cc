/* SPDX-License-Identifier: MIT */
/*
 * seq_latch - a value that an NMI handler can read in the middle of a write
 *
 * It has two copies: the writer changes one while readers use the other. An NMI
 * handler that comes between any two instructions of the writer on its own CPU
 * still reads a whole value at once: the old one or the new one. Its main use
 * is a clock that every context reads. seq_lock is half as large.
 *
 * Source:      the idea of the Linux kernel's latch sequence counter
 *              (Documentation/locking/seqlock, "Latch sequence counters"); the
 *              orders are ours.
 * Size:        2 T and 4 bytes, rounded up to T's alignment; zero bytes: T of
 *              zero bytes              Checked: unit/seq_lock: sizes
 * Context:     readers: any, also an NMI that interrupts the writer. Writers:
 *              one at a time, by a lock of their own.
 * Capacity:    if exactly 2^31 writes pass during one read, it may return parts
 *              of two values.
 *
 * State (sequence):  even: the first copy is read; odd: the second; each write
 *              increments it twice
 *
 * Ordering:
 *	O1  write  sequence.store_release  pairs with O5
 *	O2  write  fence_release           pairs with O6
 *	O3  write  sequence.store_release  pairs with O5
 *	O4  write  fence_release           pairs with O6
 *	O5  read   sequence.load_acquire   pairs with O1, O3
 *	O6  read   fence_acquire           pairs with O2, O4
 *                              Checked: model/seq_latch: orders needed
 *
 *	O1 and O3 publish the copy that readers use next. O2 and O4: a reader
 *	that read a word of a copy while it was written sees, after O6, that the
 *	sequence has changed.
 */
#pragma once

#include <klock/seq_lock.hpp>

namespace klock {

template <typename T>
struct seq_latch {
	constexpr seq_latch() = default;
	constexpr explicit seq_latch(const T &first)
	    : copies{seq_words<T>(first), seq_words<T>(first)}
	{
	}

	/*
	 * Returns the newest whole value. Waits for nobody; reads again if the
	 * copy was written meanwhile.
	 */
	[[nodiscard]] T read() const
	{
		for (;;) {
			const u32 began = sequence.load_acquire(); /* O5 */
			const T seen = copies[began % 2].load_relaxed();

			fence_acquire(); /* O6 */
			if (sequence.load_relaxed() == began)
				return seen;
		}
	}

	/* Replaces the value; one writer at a time. */
	void write(const T &v)
	{
		const u32 began = sequence.load_relaxed();

		sequence.store_release(began + 1); /* O1 */
		fence_release();		   /* O2 */
		copies[0].store_relaxed(v);
		sequence.store_release(began + 2); /* O3 */
		fence_release();		   /* O4 */
		copies[1].store_relaxed(v);
	}

      private:
	/* The first is read while the sequence is even. */
	seq_words<T> copies[2];
	/* Incremented twice in a write. */
	atomic<u32> sequence;
};

} // namespace klock
