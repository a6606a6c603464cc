/* SPDX-License-Identifier: MIT */
#include <klock/padded_ticket_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

namespace {

template <typename L>
concept has_try_lock = requires(L &lock) { lock.try_lock(); };

} // namespace
TEST_CASE("padded_ticket_lock: sizes are two lines, and zero bytes are free")
{
	static_assert(sizeof(padded_ticket_lock<u8>) == 2 * cache_line);
	static_assert(sizeof(padded_ticket_lock<u32>) == 2 * cache_line);
	static_assert(alignof(padded_ticket_lock<u8>) == cache_line);
	static constinit padded_ticket_lock<u16> lock;

	CHECK(all_zero(lock));
}

TEST_CASE("padded_ticket_lock: an arrival leaves the line they wait on")
{
	padded_ticket_lock<u8> lock;
	line<padded_ticket_lock<u8>> others(lock);

	lock.lock();
	const auto before = bytes_of(lock);
	others.add(1);
	const auto after = bytes_of(lock);
	CHECK(std::memcmp(&before[0], &after[0], cache_line) != 0);
	CHECK(std::memcmp(&before[cache_line], &after[cache_line],
			  cache_line) == 0);
	lock.unlock();
}

TEMPLATE_TEST_CASE(
	"padded_ticket_lock: waiters are served in order at the wrap", "[wrap]",
	u8, u16, u32)
{
	for (const int before : {0, 1, 2, 3, 4, 5}) {
		padded_ticket_lock<TestType> lock(
			static_cast<TestType>(-before));
		CAPTURE(before);
		REQUIRE(served_behind_holder(lock, 5) == one_to(5));
		REQUIRE_FALSE(lock.is_locked());
	}
}

TEST_CASE("padded_ticket_lock: hints count modulo the counter's width")
{
	padded_ticket_lock<u8> lock(255);
	line<padded_ticket_lock<u8>> others(lock);

	CHECK_FALSE(lock.is_locked());
	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	others.add(1);
	CHECK(lock.is_contended());
	lock.unlock();
	others.leave();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("padded_ticket_lock: 256 contend for 8-bit counters; 257 is too many")
{
	padded_ticket_lock<u8> lock(99);
	line<padded_ticket_lock<u8>> others(lock);

	lock.lock();
	for (unsigned number : one_to(255))
		others.add(number);
	CHECK_FALSE(lock.is_locked());

	/* One more is inside at once, beside the holder: see Capacity. */
	lock.lock();
	lock.unlock();
	CHECK(others.leave() == one_to(255));
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("padded_ticket_lock: has no try_lock, as none would be right")
{
	static_assert(!has_try_lock<padded_ticket_lock<u8>>);
	static_assert(!has_try_lock<padded_ticket_lock<u32>>);
	SUCCEED();
}
