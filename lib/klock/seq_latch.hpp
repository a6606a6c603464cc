/* SPDX-License-Identifier: MIT */
/*
 * seq_latch - a value that can be read even over its own half-done write
 *
 * Two copies: the writer changes one while readers are sent to the other. An
 * NMI handler that came between any two instructions of the writer on its own
 * CPU still reads a whole value, at once: the old one or the new one. For the
 * clock that every context reads, above all; else seq_lock is half as large.
 *
 * Source:      the idea of the Linux kernel's latch sequence counter
 *              (Documentation/locking/seqlock, "Latch sequence counters"); the
 *              orders are ours.
 * Size:        2 T and 4 bytes, rounded up to T's alignment; zero bytes: T of
 *              zero bytes              Checked: unit/seq_lock: sizes
 * Context:     readers: any, NMI over the writer too. Writers: one at a time,
 *              by a lock of their own.
 * Capacity:    a reader that sleeps while exactly 2^31 writes pass is not told.
 *
 * State (sequence):  even: the first copy is read, odd: the second; a write
 *              counts it up twice
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
 *	O1 and O3 publish the copy that readers are sent to. O2 and O4: a reader
 *	that saw a word of the copy that is written sees, behind O6, that it was
 *	to read the other.
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
	 * The newest whole value. Waits for nobody; reads again if that copy
	 * was written meanwhile.
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

	/* One writer at a time. */
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
	/* Counted up twice a write. */
	atomic<u32> sequence;
};

} // namespace klock
