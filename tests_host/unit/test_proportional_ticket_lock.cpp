/* SPDX-License-Identifier: MIT */
/*
 * proportional_ticket_lock: how long a waiter pauses.
 */
#include <klock/proportional_ticket_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEST_CASE("proportional_ticket_lock: sizes are the counters and the base")
{
	static_assert(sizeof(proportional_ticket_lock<u8>) == 8);
	static_assert(sizeof(proportional_ticket_lock<u16>) == 8);
	static_assert(sizeof(proportional_ticket_lock<u32>) == 16);
	static constinit proportional_ticket_lock<u16> zero(0);
	static constinit proportional_ticket_lock<u16> usual;

	CHECK(all_zero(zero));
	CHECK_FALSE(all_zero(usual));
	zero.lock();
	CHECK(zero.is_locked());
	zero.unlock();
	CHECK_FALSE(zero.is_locked());
}

TEST_CASE("proportional_ticket_lock: pauses for each waiter ahead, never for "
	  "none")
{
	using lock8 = proportional_ticket_lock<u8>;
	using lock32 = proportional_ticket_lock<u32>;

	static_assert(lock8::turns_for(1, 64) == 64);
	static_assert(lock8::turns_for(255, 64) == 255 * 64);
	static_assert(lock32::turns_for(3, 100) == 300);
	static_assert(lock8::turns_for(1, 0) == 1);
	static_assert(lock32::turns_for(u32{1} << 31, 2) == 1);
	SUCCEED();
}

TEMPLATE_TEST_CASE("proportional_ticket_lock: served in order at the wrap",
		   "[wrap]", u8, u16, u32)
{
	for (const int before : {0, 1, 2, 3, 4}) {
		proportional_ticket_lock<TestType> lock(
			8, static_cast<TestType>(-before));
		CAPTURE(before);
		REQUIRE(served_behind_holder(lock, 4) == one_to(4));
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEST_CASE("proportional_ticket_lock: the base may change while others wait")
{
	proportional_ticket_lock<u8> lock(1);
	line<proportional_ticket_lock<u8>> others(lock);

	lock.lock();
	for (unsigned number : one_to(4)) {
		others.add(number);
		lock.set_base(number);
	}
	lock.unlock();
	CHECK(others.leave() == one_to(4));
}

TEST_CASE("proportional_ticket_lock: 256 contend for 8-bit counters, in order")
{
	proportional_ticket_lock<u8> lock(1, 77);

	CHECK(served_behind_holder(lock, 255) == one_to(255));
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
}
