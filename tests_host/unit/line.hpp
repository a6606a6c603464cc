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
inline std::vector<u8> bytes_at(const void *lock, usize size)
{
	const u8 *from = static_cast<const u8 *>(lock);
	std::vector<u8> bytes(size);

	for (usize i = 0; i < size; i++)
		bytes[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
	return bytes;
}

template <typename L>
inline std::vector<u8> bytes_of(const L &lock)
{
	return bytes_at(&lock, sizeof(L));
}

/* Whether these are the bytes of a lock that was never used, all zero. */
template <typename L>
inline bool all_zero(const L &lock)
{
	return bytes_of(lock) == std::vector<u8>(sizeof(L));
}

/*
 * A lock of some type, and those who take it, by their numbers: tests of every
 * lock are compiled once, and not for each.
 */
struct some_lock {
	static constexpr unsigned numbers = 10;

	virtual void lock(unsigned who = 0) = 0;
	virtual void unlock(unsigned who = 0) = 0;
	virtual bool try_lock(unsigned who = 0) = 0;
	[[nodiscard]] virtual bool is_locked() const = 0;
	/* As its holder sees it; false of a lock that does not tell. */
	[[nodiscard]] virtual bool is_contended(unsigned who = 0) const = 0;

	const u64 contenders;
	const bool has_try_lock, tells_contended;

      protected:
	some_lock(u64 most, bool can_be_tried, bool tells)
	    : contenders(most), has_try_lock(can_be_tried),
	      tells_contended(tells)
	{
	}
	~some_lock() = default;
};

template <typename L>
struct lock_of final : some_lock {
	static constexpr bool tells = selftest::tells_contended<L>;

	explicit lock_of(L &of)
	    : some_lock(L::max_contenders, try_lockable<L>, tells), it(of)
	{
		for (unsigned number = 0; number < numbers; number++)
			all[number].renumber(number);
	}

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
	bool is_contended([[maybe_unused]] unsigned who) const override
	{
		if constexpr (tells)
			return all[who].is_contended(it);
		else
			return false;
	}

      private:
	L &it;
	selftest::contender<L> all[numbers];
};

/*
 * Each comes when told to, is served once, and leaves its number. All of it but
 * the lock's calls, so that it is compiled once for all locks.
 */
struct line_of_any {
	line_of_any(const line_of_any &) = delete;

	/* Brings one more; returns when it stands in the queue. */
	virtual void add(unsigned number) = 0;

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

	/* How many were served; the lock's holder may ask. */
	usize served() const { return order.size(); }

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

	void add(unsigned number) override
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
inline std::vector<unsigned> served_behind(some_lock &lock, line_of_any &others,
					   unsigned n)
{
	lock.lock();
	for (unsigned number : one_to(n))
		others.add(number);
	lock.unlock();
	return others.leave();
}

template <typename L>
inline std::vector<unsigned> served_behind_holder(L &lock, unsigned n)
{
	lock_of<L> holder(lock);
	line<L> others(lock);

	watchdog::note<L>("the holder to be served, and those behind it", n);
	return served_behind(holder, others, n);
}

/*
 * Threads that are numbered from 0 take the lock again and again. Returns how
 * many critical sections had no other beside them. In one of `sections_a_yield`
 * the holder lets others run, in none if that is 0: beside many other programs
 * each of these takes as long as all of them run once.
 */
template <typename L>
inline unsigned sections_alone(L &lock, unsigned threads, unsigned each,
			       unsigned sections_a_yield)
{
	unsigned inside = 0, alone = 0;
	std::vector<std::thread> all;

	for (unsigned number = 0; number < threads; number++)
		all.emplace_back([&, number] {
			selftest::contender<L> who(number);

			for (unsigned i = 0; i < each; i++) {
				who.lock(lock);
				inside++;
				alone += inside == 1;
				if (sections_a_yield != 0 &&
				    i % sections_a_yield == 0)
					std::this_thread::yield();
				inside--;
				who.unlock(lock);
			}
		});
	for (std::thread &thread : all)
		thread.join();
	return alone;
}

} // namespace unit
