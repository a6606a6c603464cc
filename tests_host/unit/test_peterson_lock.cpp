/* SPDX-License-Identifier: MIT */
/*
 * peterson_lock: who gives way, and how often.
 */
#include <klock/peterson_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <atomic>

using namespace klock;
using namespace unit;

TEST_CASE("peterson_lock: size is three bytes, and zero bytes are free")
{
	static_assert(sizeof(peterson_lock) == 3);
	static constinit peterson_lock lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("peterson_lock: both enter, one after the other, in either order")
{
	peterson_lock lock;

	for (unsigned cpu : {0u, 0u, 1u, 1u, 0u, 1u}) {
		lock.lock(cpu);
		CHECK(lock.is_locked());
		CHECK_FALSE(lock.is_contended());
		lock.unlock(cpu);
		CHECK_FALSE(lock.is_locked());
	}
	for (unsigned first : {0u, 1u}) {
		line<peterson_lock> other(lock);
		lock.lock(first);
		other.add(1 - first);
		CHECK(lock.is_contended());
		lock.unlock(first);
		CHECK(other.leave() == std::vector<unsigned>{1 - first});
	}
	CHECK_FALSE(lock.is_locked());
}

/* Whether this CPU stands in its wait: it wants to, and has given way. */
static bool has_given_way(const peterson_lock &lock, unsigned cpu)
{
	const auto now = bytes_of(lock);

	return now[cpu] == 1 && now[2] == cpu;
}

TEST_CASE("peterson_lock: bypass: a waiter is bypassed once at most")
{
	for (unsigned me : {0u, 1u}) {
		peterson_lock lock;
		std::atomic<bool> served{false};
		line<peterson_lock> other(lock);
		unsigned bypassed = 0;

		lock.lock(me);
		other.start(1 - me, [&] { served = true; });
		wait_until([&] { return has_given_way(lock, 1 - me); },
			   "has given way");
		lock.unlock(me);
		for (int i = 0; i < 1000 && !served; i++) {
			lock.lock(me);
			bypassed += !served;
			lock.unlock(me);
		}
		other.leave();
		CHECK(bypassed <= 1);
	}
}

TEST_CASE("peterson_lock: two that contend are never inside together")
{
	/* Finds a missing fence only where two threads truly run at once. */
	peterson_lock lock;
	unsigned inside = 0, sections = 0;
	std::vector<std::thread> threads;

	for (unsigned cpu : {0u, 1u})
		threads.emplace_back([&, cpu] {
			for (int i = 0; i < 20000; i++) {
				lock.lock(cpu);
				inside++;
				sections += inside == 1;
				inside--;
				lock.unlock(cpu);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(sections == 40000);
}
