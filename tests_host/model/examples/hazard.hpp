/* SPDX-License-Identifier: MIT */
/*
 * hazard - a hazard pointer that its reader publishes too late
 *
 * The reader says which node it uses, and looks whether that node is still the
 * one; the other side takes the node away, and looks whether anybody uses it.
 * Without a full fence between the two steps of each, both looks can be too
 * early, and the node is deleted under its reader.
 */
#pragma once

#include <atomic>
#include <model/var.hpp>

template <std::memory_order Fence>
struct hazard {
	struct node {
		model::var<int> value = 1;
	};

	std::atomic<node *> current;
	std::atomic<node *> in_use{nullptr};

	hazard() : current(new node) {}

	void reader()
	{
		node *const n = current.load(std::memory_order_acquire);

		if (!n)
			return;
		in_use.store(n, std::memory_order_relaxed);
		std::atomic_thread_fence(Fence);
		if (current.load(std::memory_order_acquire) == n)
			(void)n->value.get();
		in_use.store(nullptr, std::memory_order_release);
	}
	void remover()
	{
		node *const n =
			current.exchange(nullptr, std::memory_order_acq_rel);

		std::atomic_thread_fence(Fence);
		if (in_use.load(std::memory_order_acquire) != n)
			delete n;
	}

	void cpu(unsigned which) { which == 0 ? reader() : remover(); }
	bool holds() const { return true; }
};
