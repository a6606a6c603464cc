/* SPDX-License-Identifier: MIT */
/*
 * ticket_lock: the wrap of its counters, its capacity, its try_lock.
 */
#include <klock/ticket_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <atomic>
#include <mutex>

using namespace klock;
using namespace unit;

/* Every value of a u8; of wider counters the ends and some between. */
template <typename Counter>
static std::vector<Counter> interesting_values()
{
	std::vector<Counter> values;
	const u64 end = u64{1} << 8 * sizeof(Counter);
	const u64 step = sizeof(Counter) == 1 ? 1 : end / 61;

	for (u64 v = 0; v < end; v += step)
		values.push_back(static_cast<Counter>(v));
	for (u64 v :
	     {end / 2 - 2, end / 2 - 1, end / 2, end - 3, end - 2, end - 1})
		values.push_back(static_cast<Counter>(v));
	return values;
}

TEST_CASE("ticket_lock: sizes are two counters, and zero bytes are free")
{
	static_assert(sizeof(ticket_lock<u8>) == 2);
	static_assert(sizeof(ticket_lock<u16>) == 4);
	static_assert(sizeof(ticket_lock<u32>) == 8);
	static_assert(alignof(ticket_lock<u8>) == 2);
	static_assert(alignof(ticket_lock<u32>) == 8);

	static constinit ticket_lock<u8> small;
	static constinit ticket_lock<u16> middle;
	static constinit ticket_lock<u32> large;
	CHECK(all_zero(small));
	CHECK(all_zero(middle));
	CHECK(all_zero(large));
}

TEST_CASE("ticket_lock: ticket_lock_for is the smallest that is safe")
{
	static_assert(same_as<ticket_lock_for<1>, ticket_lock<u8>>);
	static_assert(same_as<ticket_lock_for<256>, ticket_lock<u8>>);
	static_assert(same_as<ticket_lock_for<257>, ticket_lock<u16>>);
	static_assert(same_as<ticket_lock_for<65536>, ticket_lock<u16>>);
	static_assert(same_as<ticket_lock_for<65537>, ticket_lock<u32>>);
	static_assert(same_as<ticket_lock_for<u64{1} << 32>, ticket_lock<u32>>);
	SUCCEED();
}

TEMPLATE_TEST_CASE(
	"ticket_lock: alone, it works at every value of its counters", "[wrap]",
	u8, u16, u32)
{
	for (const TestType served : interesting_values<TestType>()) {
		ticket_lock<TestType> lock(served);
		ticket_lock<TestType> after(static_cast<TestType>(served + 1));
		CAPTURE(u64{served});

		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.is_contended());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
		REQUIRE(bytes_of(lock) == bytes_of(after));

		REQUIRE(lock.try_lock());
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEMPLATE_TEST_CASE(
	"ticket_lock: waiters are served in arrival order at the wrap",
	"[wrap]", u8, u16, u32)
{
	for (const int before : {0, 1, 2, 3, 4, 5}) {
		ticket_lock<TestType> lock(static_cast<TestType>(-before));
		CAPTURE(before);
		REQUIRE(served_behind_holder(lock, 5) == one_to(5));
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEMPLATE_TEST_CASE(
	"ticket_lock: is_contended counts modulo the counter's width", "[wrap]",
	u8, u16, u32)
{
	/* The holder has the last number before the wrap, the waiter 0. */
	ticket_lock<TestType> lock(static_cast<TestType>(-1));
	line<ticket_lock<TestType>> others(lock);

	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	others.add(1);
	CHECK(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	others.leave();
	CHECK_FALSE(lock.is_contended());
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("ticket_lock: 256 contend for 8-bit counters, in order; 257 is too "
	  "many")
{
	ticket_lock<u8> lock(200);
	line<ticket_lock<u8>> others(lock);

	static_assert(ticket_lock<u8>::max_contenders == 256);
	lock.lock();
	for (unsigned number = 1; number < 255; number++)
		others.add(number);
	CHECK(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(lock.try_lock());

	/* The 256th closes the ring: next == owner, as if it were free. */
	others.add(255);
	CHECK_FALSE(lock.is_locked());

	/*
	 * That is what Capacity warns of: one context more walks in, while the
	 * holder is inside. It has the holder's number, a wrap later, and
	 * leaves after all others.
	 */
	CHECK(lock.try_lock());
	lock.unlock();
	CHECK(others.leave() == one_to(255));
	CHECK(lock.is_locked());
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("ticket_lock: lock_paced tells how many are ahead, modulo the width")
{
	/* Numbers 254 (the holder), 255 and 0. */
	ticket_lock<u8> lock(254);
	std::atomic<int> ahead[2] = {-1, -1};
	std::vector<std::thread> waiters;

	lock.lock();
	for (std::atomic<int> &mine : ahead) {
		const selftest::doorway<ticket_lock<u8>> door(lock);
		waiters.emplace_back([&] {
			lock.lock_paced([&mine](u8 distance) {
				mine = distance;
				return 1u;
			});
			lock.unlock();
		});
		wait_until([&] { return door.passed(0) && mine != -1; },
			   "a pause");
	}
	CHECK(ahead[0] == 1);
	CHECK(ahead[1] == 2);
	lock.unlock();
	for (std::thread &waiter : waiters)
		waiter.join();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("ticket_lock: std::scoped_lock takes it, alone and with others")
{
	ticket_lock<u8> a;
	ticket_lock<u16> b;
	{
		std::scoped_lock both(a, b);
		CHECK(a.is_locked());
		CHECK(b.is_locked());
	}
	CHECK_FALSE(a.is_locked());
	CHECK_FALSE(b.is_locked());
	std::unique_lock maybe(a, std::try_to_lock);
	CHECK(maybe.owns_lock());
}
