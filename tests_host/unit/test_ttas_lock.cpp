/* SPDX-License-Identifier: MIT */
/*
 * ttas_lock and backoff_ttas_lock: how long its waiters pause.
 */
#include <klock/ttas_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <set>

using namespace klock;
using namespace unit;

TEST_CASE("ttas_lock: sizes are a byte, and a zero byte is free")
{
	static_assert(sizeof(ttas_lock) == 1);
	static_assert(sizeof(backoff_ttas_lock) == 1);
	static constinit ttas_lock plain;
	static constinit backoff_ttas_lock polite;

	CHECK(all_zero(plain));
	CHECK(all_zero(polite));
}

TEMPLATE_TEST_CASE("ttas_lock: whoever waits gets it, in whatever order", "",
		   ttas_lock, backoff_ttas_lock)
{
	TestType lock;
	line<TestType> others(lock);

	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());
	for (unsigned number : one_to(6))
		others.start(number);
	lock.unlock();
	CHECK(others.leave().size() == 6);
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	lock.unlock();
}

TEST_CASE("ttas_lock: a back-off grows with the doublings, up to its cap")
{
	constexpr u32 first = exponential_backoff::first_limit;
	constexpr u32 last = exponential_backoff::last_limit;
	u32 largest = 0;

	for (usize place = 0; place < 4096; place += 16) {
		exponential_backoff pause(place);
		u32 limit = first;

		for (int look = 0; look < 40; look++) {
			const u32 turns = pause();
			REQUIRE(turns >= 1);
			REQUIRE(turns <= limit);
			largest = turns > largest ? turns : largest;
			limit = limit < last ? 2 * limit : last;
		}
	}
	CHECK(largest > last - last / 16);
}

/* The pauses that a waiter makes whose stack lies so far from the lock. */
static std::vector<u32> pauses_at(usize place)
{
	exponential_backoff pause(place);
	std::vector<u32> pauses;

	for (int i = 0; i < 4; i++)
		pauses.push_back(pause());
	return pauses;
}

TEST_CASE("ttas_lock: waiters on different stacks do not march in step")
{
	/* 64 stacks, as far apart as kernels and hosts lay them out. */
	for (usize apart : {usize{1} << 12, usize{1} << 13, usize{1} << 14,
			    usize{1} << 16, usize{1} << 20, usize{1} << 23}) {
		std::set<std::vector<u32>> different;

		for (usize cpu = 0; cpu < 64; cpu++)
			different.insert(pauses_at(0x7f00 + cpu * apart));
		CAPTURE(apart);
		CHECK(different.size() == 64);
	}
}
