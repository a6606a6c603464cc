/* SPDX-License-Identifier: MIT */
/*
 * put - a reference count that goes down relaxed
 *
 * The last one takes the object apart. What the others did with it must be
 * before: each put() releases, and the last acquires.
 */
#pragma once

#include <atomic>
#include <model/var.hpp>

template <std::memory_order Put>
struct put {
	std::atomic<int> held{2};
	model::var<int> object = 7;

	void cpu(unsigned)
	{
		(void)object.get();
		if (held.fetch_sub(1, Put) == 1)
			object = 0;
	}
	bool holds() const { return held == 0; }
};
