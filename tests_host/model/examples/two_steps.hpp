/* SPDX-License-Identifier: MIT */
/*
 * two_steps - a try_lock that looks, and then takes
 *
 * Two can look before either takes. One operation has to do both.
 */
#pragma once

#include <atomic>
#include <model/var.hpp>

template <bool Atomic>
struct two_steps {
	std::atomic<bool> locked{false};
	model::var<int> data = 0;

	bool try_lock()
	{
		if (Atomic)
			return !locked.exchange(true,
						std::memory_order_acquire);
		if (locked.load(std::memory_order_acquire))
			return false;
		locked.store(true, std::memory_order_release);
		return true;
	}
	void unlock() { locked.store(false, std::memory_order_release); }

	void cpu(unsigned)
	{
		if (try_lock()) {
			data++;
			unlock();
		}
	}
	bool holds() const { return true; }
};
