/* SPDX-License-Identifier: MIT */
/*
 * ring_index - a ring's index that moves before its slot is filled
 */
#pragma once

#include <atomic>
#include <model/var.hpp>

template <std::memory_order Publish>
struct ring_index {
	std::atomic<unsigned> head{0}, tail{0};
	model::var<int> slot[2];
	bool in_order = true;

	bool put(int v)
	{
		const unsigned at = head.load(std::memory_order_relaxed);

		if (at - tail.load(std::memory_order_acquire) == 2)
			return false;
		slot[at % 2] = v;
		head.store(at + 1, Publish);
		return true;
	}
	bool take(int &v)
	{
		const unsigned at = tail.load(std::memory_order_relaxed);

		if (at == head.load(std::memory_order_acquire))
			return false;
		v = slot[at % 2];
		tail.store(at + 1, Publish);
		return true;
	}

	void cpu(unsigned which)
	{
		int last = 0, v = 0;

		for (int i = 1; i <= 3; i++) {
			if (which == 0)
				(void)put(i);
			else if (take(v))
				in_order &= v == ++last;
		}
	}
	bool holds() const { return in_order; }
};
