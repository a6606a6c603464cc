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
#include <functional>
#include <memory>
#include <thread>
#include <typeinfo>
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

/*
 * A lock of some type, and two who take it: tests of every lock are compiled
 * once, and not for each.
 */
struct some_lock {
	virtual void lock(unsigned who = 0) = 0;
	virtual void unlock(unsigned who = 0) = 0;
	virtual bool try_lock(unsigned who = 0) = 0;
	[[nodiscard]] virtual bool is_locked() const = 0;

	const bool has_try_lock;

      protected:
	explicit some_lock(bool can_be_tried) : has_try_lock(can_be_tried) {}
	~some_lock() = default;
};

template <typename L>
struct lock_of final : some_lock {
	explicit lock_of(L &of) : some_lock(try_lockable<L>), it(of) {}

	void lock(unsigned who) override { all[who].lock(it); }
	void unlock(unsigned who) override { all[who].unlock(it); }
	bool try_lock(unsigned who) override
	{
		if constexpr (try_lockable<L>)
			return all[who].try_lock(it);
		else
			return false;
	}
	bool is_locked() const override { return it.is_locked(); }

      private:
	L &it;
	selftest::contender<L> all[2] = {selftest::contender<L>(0),
					 selftest::contender<L>(1)};
};

/*
 * Each comes when told to, is served once, and leaves its number. All of it but
 * the lock's calls, so that it is compiled once for all locks.
 */
struct line_of_any {
	line_of_any(const line_of_any &) = delete;

	/* Brings one whose queue cannot be seen: does not wait. */
	void start(
		unsigned number, std::function<void()> inside = [] {})
	{
		void *const who = calls.make(number);

		contenders.emplace_back(who, calls.end);
		threads.emplace_back([this, who, number, inside] {
			calls.lock(lock, who);
			watchdog::note(calls.type, "serves", number);
			order.push_back(number);
			inside();
			calls.unlock(lock, who);
		});
	}

	/* Waits for all; the numbers in the order in which they were served. */
	std::vector<unsigned> leave()
	{
		if (!threads.empty())
			watchdog::note(calls.type, "all to be served",
				       threads.size());
		for (std::thread &thread : threads)
			thread.join();
		threads.clear();
		return order;
	}

      protected:
	struct table {
		const std::type_info &type;
		void *(*make)(unsigned number);
		void (*end)(void *who);
		void (*lock)(void *lock, void *who);
		void (*unlock)(void *lock, void *who);
	};

	line_of_any(void *lock_, table of) : lock(lock_), calls(of) {}
	~line_of_any() { leave(); }

	void await(unsigned number, bool (*passed)(const void *, unsigned),
		   const void *door)
	{
		watchdog::note(calls.type, "to stand in the queue", number);
		while (!passed(door, number))
			std::this_thread::yield();
	}

	void *const lock;

      private:
	const table calls;
	std::vector<unsigned> order; /* the lock's holder writes it */
	std::vector<std::unique_ptr<void, void (*)(void *)>> contenders;
	std::vector<std::thread> threads;
};

template <typename L>
struct line : line_of_any {
	explicit line(L &of) : line_of_any(&of, calls_of_it()) {}

	/* Brings one more; returns when it stands in the queue. */
	void add(unsigned number)
	{
		using doorway = selftest::doorway<L>;
		const doorway door(*static_cast<L *>(lock));

		start(number);
		await(
			number,
			[](const void *it, unsigned who) {
				return static_cast<const doorway *>(it)->passed(
					who);
			},
			&door);
	}

      private:
	using contender = selftest::contender<L>;

	static contender &its(void *who)
	{
		return *static_cast<contender *>(who);
	}
	static table calls_of_it()
	{
		return {typeid(L),
			[](unsigned number) -> void * {
				return new contender(number);
			},
			[](void *who) { delete &its(who); },
			[](void *l, void *who) {
				its(who).lock(*static_cast<L *>(l));
			},
			[](void *l, void *who) {
				its(who).unlock(*static_cast<L *>(l));
			}};
	}
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
