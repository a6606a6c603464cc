/* SPDX-License-Identifier: MIT */
/*
 * narrow_ticket_lock: two counters in a byte, and what must not carry.
 */
#include <klock/narrow_ticket_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEMPLATE_TEST_CASE("narrow_ticket_lock: sizes are a byte, a zero byte is free",
		   "", narrow_ticket_lock<2>, narrow_ticket_lock<3>,
		   narrow_ticket_lock<4>)
{
	static_assert(sizeof(TestType) == 1);
	static constinit TestType lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

TEMPLATE_TEST_CASE("narrow_ticket_lock: alone, it works at every value",
		   "[wrap]", narrow_ticket_lock<2>, narrow_ticket_lock<3>,
		   narrow_ticket_lock<4>)
{
	for (unsigned served = 0; served < 256; served++) {
		TestType lock(static_cast<u8>(served));
		const TestType after(static_cast<u8>(served + 1));
		CAPTURE(served);

		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.is_contended());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE(bytes_of(lock) == bytes_of(after));
		REQUIRE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEMPLATE_TEST_CASE(
	"narrow_ticket_lock: an unlock leaves the tickets taken alone",
	"[wrap]", narrow_ticket_lock<2>, narrow_ticket_lock<3>,
	narrow_ticket_lock<4>)
{
	constexpr unsigned n = TestType::max_contenders;

	/* Every owner, with one waiter, whose ticket the unlock must keep. */
	for (unsigned served = 0; served < n; served++) {
		TestType lock(static_cast<u8>(served));
		line<TestType> others(lock);
		CAPTURE(served);

		lock.lock();
		others.add(1);
		REQUIRE(lock.is_contended());
		lock.unlock();
		REQUIRE(others.leave() == one_to(1));
		const TestType after(static_cast<u8>(served + 2));
		REQUIRE(bytes_of(lock) == bytes_of(after));
	}
}

TEMPLATE_TEST_CASE(
	"narrow_ticket_lock: capacity is 2^Bits, and one more breaks it", "",
	narrow_ticket_lock<2>, narrow_ticket_lock<3>, narrow_ticket_lock<4>)
{
	constexpr unsigned n = TestType::max_contenders;

	for (unsigned served = 0; served < n; served++) {
		TestType lock(static_cast<u8>(served));
		line<TestType> others(lock);
		CAPTURE(served);

		lock.lock();
		for (unsigned number = 1; number < n - 1; number++)
			others.add(number);
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.try_lock());
		others.add(n - 1);
		REQUIRE_FALSE(lock.is_locked());

		/* One more walks in beside the holder. */
		REQUIRE(lock.try_lock());
		lock.unlock();
		REQUIRE(others.leave() == one_to(n - 1));
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
	}
}
