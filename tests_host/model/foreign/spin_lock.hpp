/* SPDX-License-Identifier: MIT */
/*
 * spin_lock - a lock of one flag, whose waiters sleep
 */
#pragma once

#include <atomic>

class spin_lock {
	std::atomic_flag taken = ATOMIC_FLAG_INIT;

      public:
	void lock()
	{
		while (taken.test_and_set(std::memory_order_acquire))
			taken.wait(true, std::memory_order_relaxed);
	}
	bool try_lock()
	{
		return !taken.test_and_set(std::memory_order_acquire);
	}
	void unlock()
	{
		taken.clear(std::memory_order_release);
		taken.notify_one();
	}
};
