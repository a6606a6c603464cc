/* SPDX-License-Identifier: MIT */
/*
 * anderson_lock: its ring, and the counter that must not run out.
 */
#include <klock/anderson_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEST_CASE("anderson_lock: sizes are a line for each slot, and one")
{
	static_assert(sizeof(anderson_lock<1>) == 2 * cache_line);
	static_assert(sizeof(anderson_lock<7>) == 8 * cache_line);
	static_assert(alignof(anderson_lock<7>) == cache_line);
	static constinit anderson_lock<3> lock;

	CHECK_FALSE(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
	lock.lock();
	CHECK(lock.is_locked());
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

/* The next number to be taken: the lock's first bytes. */
template <typename L>
static u32 next_of(const L &lock)
{
	u32 drawn;

	std::memcpy(&drawn, bytes_of(lock).data(), sizeof(drawn));
	return drawn;
}

TEMPLATE_TEST_CASE(
	"anderson_lock: alone, it goes round the ring, for any Slots", "[wrap]",
	anderson_lock<1>, anderson_lock<2>, anderson_lock<3>, anderson_lock<4>,
	anderson_lock<5>, anderson_lock<6>, anderson_lock<7>,
	anderson_lock<100>)
{
	constexpr u32 slots = TestType::max_contenders;
	TestType lock;

	for (u32 i = 0; i < 5 * slots + 300; i++) {
		CAPTURE(i);
		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE(next_of(lock) <= slots + 1);
		REQUIRE(next_of(lock) % slots == (i + 1) % slots);
		lock.unlock();
	}
}

TEMPLATE_TEST_CASE("anderson_lock: capacity is Slots, from each slot, in order",
		   "[wrap]", anderson_lock<1>, anderson_lock<2>,
		   anderson_lock<3>, anderson_lock<4>, anderson_lock<5>,
		   anderson_lock<7>)
{
	constexpr unsigned slots = TestType::max_contenders;
	TestType lock;

	for (unsigned start = 0; start < 2 * slots; start++) {
		CAPTURE(start);
		REQUIRE(served_behind_holder(lock, slots - 1) ==
			one_to(slots - 1));
		REQUIRE(next_of(lock) < 2 * slots);
		REQUIRE_FALSE(lock.is_locked());
		lock.lock(); /* the next round starts one slot on */
		lock.unlock();
	}
}

TEST_CASE("anderson_lock: the numbers stay below 2 x Slots while all contend")
{
	constexpr unsigned slots = 3;
	anderson_lock<slots> lock;
	unsigned inside = 0, sections = 0;
	u32 largest = 0;
	std::vector<std::thread> threads;

	for (unsigned t = 0; t < slots; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < 1000; i++) {
				lock.lock();
				inside++;
				if (const u32 now = next_of(lock);
				    now > largest)
					largest = now;
				sections += inside == 1;
				watchdog::step();
				std::this_thread::yield();
				inside--;
				lock.unlock();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(sections == 3000);
	CHECK(largest <= 2 * slots);
}

namespace {

template <typename L>
concept has_try_lock = requires(L &lock) { lock.try_lock(); };

} // namespace
TEST_CASE("anderson_lock: has no try_lock, as none would be right")
{
	static_assert(!has_try_lock<anderson_lock<4>>);
	SUCCEED();
}
