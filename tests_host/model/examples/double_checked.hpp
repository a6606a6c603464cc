/* SPDX-License-Identifier: MIT */
/*
 * double_checked - a fast path that asks whether something is ready, relaxed
 *
 * Who sees "ready" there has not seen what was made ready.
 */
#pragma once

#include <atomic>
#include <model/var.hpp>

template <std::memory_order Look>
struct double_checked {
	enum { nothing, at_work, ready };

	std::atomic<int> state{nothing};
	model::var<int> table = 0;
	bool all_ready = true;

	void make_ready()
	{
		int now = nothing;

		if (state.load(Look) == ready)
			return;
		if (state.compare_exchange_strong(now, at_work,
						  std::memory_order_acquire)) {
			table = 7;
			state.store(ready, std::memory_order_release);
			state.notify_all();
		} else if (now == at_work) {
			state.wait(at_work, std::memory_order_acquire);
		}
	}

	void cpu(unsigned)
	{
		make_ready();
		if (table != 7)
			all_ready = false;
	}
	bool holds() const { return all_ready; }
};
