/* SPDX-License-Identifier: MIT */
/*
 * hazard_stack - a lock-free stack whose nodes are freed (Treiber 1986; hazard
 * pointers: Michael, IEEE TPDS 2004)
 *
 * Each thread says which node it is about to look at; who has taken a node off
 * frees it once nobody says so.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

template <typename T, std::size_t Threads>
class hazard_stack {
	struct node {
		T value;
		std::atomic<node *> next{nullptr};
	};

	std::atomic<node *> top{nullptr};
	std::atomic<node *> looked_at[Threads]{};
	std::vector<node *> taken_off[Threads]; /* each thread's own */

	/* The top, which nobody frees before this thread lets it go. */
	node *protect(std::size_t me)
	{
		node *n = top.load();

		for (;;) {
			looked_at[me].store(n);
			node *const now = top.load();
			if (now == n)
				return n;
			n = now;
		}
	}

	bool anybody_looks_at(const node *n) const
	{
		for (const auto &at : looked_at)
			if (at.load() == n)
				return true;
		return false;
	}

	void free_what_can_be(std::size_t me)
	{
		std::vector<node *> left;

		for (node *n : taken_off[me]) {
			if (anybody_looks_at(n))
				left.push_back(n);
			else
				delete n;
		}
		taken_off[me].swap(left);
	}

      public:
	hazard_stack() = default;
	hazard_stack(const hazard_stack &) = delete;
	hazard_stack &operator=(const hazard_stack &) = delete;
	~hazard_stack()
	{
		for (auto &nodes : taken_off)
			for (node *n : nodes)
				delete n;
		for (node *n = top; n;) {
			node *const next = n->next;
			delete n;
			n = next;
		}
	}

	void push(T value)
	{
		node *const n = new node{value};
		node *below = top.load(std::memory_order_relaxed);

		do {
			n->next.store(below, std::memory_order_relaxed);
		} while (!top.compare_exchange_weak(below, n,
						    std::memory_order_release,
						    std::memory_order_relaxed));
	}

	bool pop(T &value, std::size_t me)
	{
		for (;;) {
			node *n = protect(me);

			if (!n) {
				return false;
			} else if (top.compare_exchange_strong(
					   n, n->next.load())) {
				value = n->value;
				looked_at[me].store(nullptr,
						    std::memory_order_release);
				taken_off[me].push_back(n);
				free_what_can_be(me);
				return true;
			}
		}
	}
};
