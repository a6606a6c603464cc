/* SPDX-License-Identifier: MIT */
/*
 * queue - lock-free, first in, first out (Michael, Scott, PODC 1996)
 *
 * Any number of threads on either side. Nodes live as long as the queue: all
 * of them hang together from the first.
 */
#pragma once

#include <atomic>
#include <optional>

template <typename T>
class queue {
	struct node {
		T value{};
		std::atomic<node *> next{nullptr};
	};

	node *const first = new node;
	std::atomic<node *> head{first}; /* the one before the next to take */
	std::atomic<node *> tail{first}; /* the last, or one before it */

      public:
	queue() = default;
	queue(const queue &) = delete;
	queue &operator=(const queue &) = delete;
	~queue()
	{
		for (node *n = first; n;) {
			node *const next = n->next;
			delete n;
			n = next;
		}
	}

	void push(T value)
	{
		node *const n = new node;

		n->value = value;
		for (;;) {
			node *last = tail.load(std::memory_order_acquire);
			node *next = last->next.load(std::memory_order_acquire);

			if (next) { /* somebody has not moved it yet */
				tail.compare_exchange_weak(
					last, next, std::memory_order_release,
					std::memory_order_relaxed);
			} else if (last->next.compare_exchange_weak(
					   next, n, std::memory_order_release,
					   std::memory_order_relaxed)) {
				tail.compare_exchange_strong(
					last, n, std::memory_order_release,
					std::memory_order_relaxed);
				return;
			}
		}
	}

	std::optional<T> pop()
	{
		node *before = head.load(std::memory_order_acquire);

		for (;;) {
			node *const n =
				before->next.load(std::memory_order_acquire);

			if (!n)
				return {};
			if (head.compare_exchange_weak(
				    before, n, std::memory_order_acq_rel,
				    std::memory_order_acquire))
				return n->value;
		}
	}
};
