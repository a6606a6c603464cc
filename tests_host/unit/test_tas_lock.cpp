/* SPDX-License-Identifier: MIT */
#include <klock/tas_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEST_CASE("tas_lock: size is a byte, and a zero byte is free")
{
	static_assert(sizeof(tas_lock) == 1);
	static constinit tas_lock lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	CHECK(all_zero(lock));
}

TEST_CASE("tas_lock: whoever waits gets it, in whatever order")
{
	tas_lock lock;
	line<tas_lock> others(lock);

	lock.lock();
	for (unsigned number : one_to(6))
		others.start(number);
	lock.unlock();
	CHECK(others.leave().size() == 6);
	CHECK_FALSE(lock.is_locked());
}
