/* SPDX-License-Identifier: MIT */
/*
 * foreign - code as somebody writes it who has never heard of klock
 *
 * test_plain.cpp explores it, native/test_foreign.cpp runs it with threads.
 */
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

/*
 * hazard_stack - a lock-free stack whose nodes are freed (Treiber 1986; hazard
 * pointers: Michael, IEEE TPDS 2004)
 *
 * Each thread says which node it is about to look at; who has taken a node off
 * frees it once nobody says so.
 */
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

/*
 * queue - lock-free, first in, first out (Michael, Scott, PODC 1996)
 *
 * Any number of threads on either side. Nodes live as long as the queue: all
 * of them hang together from the first.
 */
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

/*
 * seqlock - one writes, readers look whether they were disturbed
 */
struct pair_of_ints {
	int left, right;
};

class seqlock {
	std::atomic<unsigned> count{0}; /* odd: being written */
	std::atomic<int> left{0}, right{0};

      public:
	void write(pair_of_ints v)
	{
		const unsigned now = count.load(std::memory_order_relaxed);

		count.store(now + 1, std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_release);
		left.store(v.left, std::memory_order_relaxed);
		right.store(v.right, std::memory_order_relaxed);
		count.store(now + 2, std::memory_order_release);
	}

	/* False if it was disturbed. */
	bool try_read(pair_of_ints &v) const
	{
		const unsigned before = count.load(std::memory_order_acquire);

		v.left = left.load(std::memory_order_relaxed);
		v.right = right.load(std::memory_order_relaxed);
		std::atomic_thread_fence(std::memory_order_acquire);
		return !(before & 1) &&
		       count.load(std::memory_order_relaxed) == before;
	}

	pair_of_ints read() const
	{
		pair_of_ints v;

		while (!try_read(v))
			;
		return v;
	}
};

/*
 * spin_lock - a lock of one flag, whose waiters sleep
 */
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

/*
 * ttas_lock - a lock whose waiters spin
 */
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
