/* SPDX-License-Identifier: MIT */
/*
 * lost_wakeup - "I sleep" and "there is work" pass each other
 *
 * Each side writes its own word and then reads the other's. Only a full fence
 * on both sides keeps both from reading the old one: then nobody wakes who
 * sleeps.
 */
#pragma once

#include <atomic>

template <std::memory_order Fence>
struct lost_wakeup {
	std::atomic<bool> sleeps{false}, work{false};
	std::atomic<int> bell{0};

	void sleeper()
	{
		sleeps.store(true, std::memory_order_relaxed);
		std::atomic_thread_fence(Fence);
		if (!work.load(std::memory_order_relaxed))
			bell.wait(0);
	}
	void waker()
	{
		work.store(true, std::memory_order_relaxed);
		std::atomic_thread_fence(Fence);
		if (sleeps.load(std::memory_order_relaxed)) {
			bell.store(1);
			bell.notify_one();
		}
	}

	void cpu(unsigned which) { which == 0 ? sleeper() : waker(); }
	bool holds() const { return true; }
};
