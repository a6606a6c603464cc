/* SPDX-License-Identifier: MIT */
/*
 * line - threads that queue at a lock one by one, and what a lock looks like
 *
 * For scripted tests of one lock: the test holds it, lets others come in an
 * order of its choosing, leaves, and reads in which order they were served.
 */
#pragma once

#include <klock/selftest/parts.hpp>
#include <klock/selftest/locks.hpp>

#include "../watchdog.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

namespace unit {

using namespace klock;

/* Waits until done() holds; the watchdog ends the program if it never does. */
template <typename Done>
inline void wait_until(Done done, const char *what)
{
	watchdog::here.step = what;
	watchdog::step();
	while (!done())
		std::this_thread::yield();
}

/* Each byte of a lock, read atomically: others may be at it. */
template <typename L>
inline std::array<u8, sizeof(L)> bytes_of(const L &lock)
{
	const u8 *from = reinterpret_cast<const u8 *>(&lock);
	std::array<u8, sizeof(L)> bytes{};

	for (usize i = 0; i < sizeof(L); i++)
		bytes[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
	return bytes;
}

/* Whether these are the bytes of a lock that was never used, all zero. */
template <typename L>
inline bool all_zero(const L &lock)
{
	return bytes_of(lock) == std::array<u8, sizeof(L)>{};
}

/* Each comes when told to, is served once, and leaves its number. */
template <typename L>
struct line {
	explicit line(L &lock_) : lock(lock_) {}
	~line() { leave(); }
	line(const line &) = delete;

	/* Brings one more; returns when it stands in the queue. */
	void add(unsigned number)
	{
		const selftest::doorway<L> door(lock);

		start(number);
		watchdog::note<L>("to stand in the queue", number);
		while (!door.passed(number))
			std::this_thread::yield();
	}

	/* The same for a lock whose queue cannot be seen: does not wait. */
	void start(unsigned number)
	{
		start(number, [] {});
	}

	/* And does something inside. */
	template <typename Inside>
	void start(unsigned number, Inside inside)
	{
		auto &who = contenders.emplace_back(number);

		threads.emplace_back([this, &who, number, inside] {
			who.lock(lock);
			watchdog::note<L>("serves", number);
			order.push_back(number);
			inside();
			who.unlock(lock);
		});
	}

	/* Waits for all; the numbers in the order in which they were served. */
	std::vector<unsigned> leave()
	{
		if (!threads.empty())
			watchdog::note<L>("all to be served", threads.size());
		for (std::thread &thread : threads)
			thread.join();
		threads.clear();
		return order;
	}

      private:
	L &lock;
	std::vector<unsigned> order; /* the lock's holder writes it */
	std::deque<selftest::contender<L>> contenders;
	std::vector<std::thread> threads;
};

/* 1, 2, .., n: the order in which all tests let them come. */
inline std::vector<unsigned> one_to(unsigned n)
{
	std::vector<unsigned> numbers;

	for (unsigned i = 1; i <= n; i++)
		numbers.push_back(i);
	return numbers;
}

/*
 * The test holds the lock as number 0, n others come one by one, the test
 * leaves: the order in which they were served.
 */
template <typename L>
inline std::vector<unsigned> served_behind_holder(L &lock, unsigned n)
{
	selftest::contender<L> holder(0);
	line<L> others(lock);

	watchdog::note<L>("the holder to enter", 0);
	holder.lock(lock);
	for (unsigned number : one_to(n))
		others.add(number);
	watchdog::note<L>("the holder to leave", 0);
	holder.unlock(lock);
	return others.leave();
}

} // namespace unit
