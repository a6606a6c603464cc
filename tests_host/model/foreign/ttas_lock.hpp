/* SPDX-License-Identifier: MIT */
/*
 * ttas_lock - a lock whose waiters spin
 */
#pragma once

#include <atomic>

class ttas_lock {
	std::atomic<bool> taken{false};

      public:
	void lock()
	{
		while (taken.exchange(true, std::memory_order_acquire))
			while (taken.load(std::memory_order_relaxed))
				;
	}
	void unlock() { taken.store(false, std::memory_order_release); }
};
