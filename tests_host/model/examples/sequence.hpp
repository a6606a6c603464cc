/* SPDX-License-Identifier: MIT */
/*
 * sequence - a seqlock whose reader has no fence between data and count
 *
 * The second look at the count may be made before the data are read: it is then
 * the same count, and half of the data is new. An acquire load at the end does
 * not help, for it orders what comes after it.
 */
#pragma once

#include <atomic>

template <bool Fence>
struct sequence {
	std::atomic<unsigned> count{0};
	std::atomic<int> left{0}, right{0};
	bool whole = true;

	void write(int v)
	{
		const unsigned now = count.load(std::memory_order_relaxed);

		count.store(now + 1, std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_release);
		left.store(v, std::memory_order_relaxed);
		right.store(v, std::memory_order_relaxed);
		count.store(now + 2, std::memory_order_release);
	}

	/* True if what was read is whole. */
	bool read(int &l, int &r) const
	{
		const unsigned before = count.load(std::memory_order_acquire);

		l = left.load(std::memory_order_relaxed);
		r = right.load(std::memory_order_relaxed);
		if (Fence)
			std::atomic_thread_fence(std::memory_order_acquire);
		return !(before & 1) &&
		       count.load(std::memory_order_acquire) == before;
	}

	void cpu(unsigned which)
	{
		int l, r;

		if (which == 0)
			write(1);
		else if (read(l, r))
			whole = l == r;
	}
	bool holds() const { return whole; }
};
