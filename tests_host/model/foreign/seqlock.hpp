/* SPDX-License-Identifier: MIT */
/*
 * seqlock - one writes, readers look whether they were disturbed
 */
#pragma once

#include <atomic>

struct pair_of_ints {
	int left, right;
};

class seqlock {
	std::atomic<unsigned> count{0}; /* odd: being written */
	std::atomic<int> left{0}, right{0};

      public:
	void write(pair_of_ints v)
	{
		const unsigned now = count.load(std::memory_order_relaxed);

		count.store(now + 1, std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_release);
		left.store(v.left, std::memory_order_relaxed);
		right.store(v.right, std::memory_order_relaxed);
		count.store(now + 2, std::memory_order_release);
	}

	/* False if it was disturbed. */
	bool try_read(pair_of_ints &v) const
	{
		const unsigned before = count.load(std::memory_order_acquire);

		v.left = left.load(std::memory_order_relaxed);
		v.right = right.load(std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_acquire);
		return !(before & 1) &&
		       count.load(std::memory_order_relaxed) == before;
	}

	pair_of_ints read() const
	{
		pair_of_ints v;

		while (!try_read(v))
			;
		return v;
	}
};
