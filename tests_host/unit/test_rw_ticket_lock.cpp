/* SPDX-License-Identifier: MIT */
/*
 * rw_ticket_lock: the wrap of its counts, its capacity, its tries.
 */
#include <klock/rw_ticket_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <mutex>
#include <shared_mutex>

using namespace klock;
using namespace unit;

TEST_CASE("rw_ticket_lock: sizes are two counts of two halves")
{
	static_assert(sizeof(rw_ticket_lock<u8>) == 4);
	static_assert(sizeof(rw_ticket_lock<u16>) == 8);
	static_assert(alignof(rw_ticket_lock<u8>) == 4);
	static_assert(alignof(rw_ticket_lock<u16>) == 8);
	static_assert(same_as<rw_ticket_lock_for<1>, rw_ticket_lock<u8>>);
	static_assert(same_as<rw_ticket_lock_for<256>, rw_ticket_lock<u8>>);
	static_assert(same_as<rw_ticket_lock_for<257>, rw_ticket_lock<u16>>);

	static constinit rw_ticket_lock<u8> small;
	static constinit rw_ticket_lock<u16> large;
	CHECK(all_zero(small));
	CHECK(all_zero(large));
}

TEMPLATE_TEST_CASE("rw_ticket_lock: alone, at every value of its counts",
		   "[wrap]", u8, u16)
{
	using lock_type = rw_ticket_lock<TestType>;
	using sections = word_of<2 * sizeof(TestType)>;
	const unsigned end = 1u << 8 * sizeof(TestType);

	/* The writers' half carries, the readers' is lost at the top. */
	for (unsigned at = 0; at<end; at += end> 256 && at > 300 ? 97 : 1) {
		const auto served = static_cast<sections>(at + end - 150);
		const lock_type after(static_cast<sections>(served + 1));
		CAPTURE(served);

		lock_type taken(served);
		taken.lock();
		REQUIRE(taken.is_locked());
		REQUIRE_FALSE(taken.try_lock());
		REQUIRE_FALSE(taken.try_lock_shared());
		taken.unlock();
		REQUIRE_FALSE(taken.is_locked());
		taken.lock_shared();
		REQUIRE(taken.is_locked());
		REQUIRE_FALSE(taken.try_lock());
		taken.unlock_shared();
		REQUIRE(bytes_of(taken) == bytes_of(after));

		lock_type tried(served);
		REQUIRE(tried.try_lock_shared());
		REQUIRE_FALSE(tried.try_lock());
		tried.unlock_shared();
		REQUIRE(tried.try_lock());
		REQUIRE_FALSE(tried.try_lock_shared());
		REQUIRE_FALSE(tried.try_lock());
		tried.unlock();
		REQUIRE(bytes_of(tried) == bytes_of(after));

		lock_type shared(served);
		REQUIRE(shared.try_lock_shared());
		shared.lock_shared();
		REQUIRE_FALSE(shared.try_lock());
		shared.unlock_shared();
		REQUIRE(shared.is_locked());
		shared.unlock_shared();
		REQUIRE_FALSE(shared.is_locked());
	}
}

TEST_CASE("rw_ticket_lock: writers wait and go, and readers, over the carry")
{
	/* At each count of writers: two are in line, then a reader is let in
	 * beside one that has been in for as long as the carry lasts. */
	for (unsigned served = 0; served < 256; served++) {
		rw_ticket_lock<u8> lock(static_cast<u16>(served));
		line<rw_ticket_lock<u8>> others(lock);

		lock.lock();
		if (served % 16 == 15)
			others.add(2);
		lock.unlock();
		others.leave();
		REQUIRE_FALSE(lock.is_locked());
		lock.lock_shared();
		REQUIRE(lock.try_lock_shared());
		lock.unlock_shared();
		lock.unlock_shared();
		REQUIRE_FALSE(lock.is_locked());
		REQUIRE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock_shared());
		lock.unlock();
	}
}

TEST_CASE("rw_ticket_lock: 256 contend for 8-bit counts, and read together")
{
	rw_ticket_lock<u8> lock(77);

	static_assert(rw_ticket_lock<u8>::max_contenders == 256);
	for (unsigned reader = 0; reader < 255; reader++)
		REQUIRE(lock.try_lock_shared());
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());

	/* The 256th closes the ring: it looks free. One more walks in. */
	CHECK(lock.try_lock_shared());
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	lock.unlock();
	for (unsigned reader = 0; reader < 256; reader++)
		lock.unlock_shared();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("rw_ticket_lock: std::shared_lock and std::unique_lock take it")
{
	rw_ticket_lock<u8> lock;

	{
		std::shared_lock one(lock);
		std::shared_lock two(lock, std::try_to_lock);
		CHECK(two.owns_lock());
		std::unique_lock writer(lock, std::try_to_lock);
		CHECK_FALSE(writer.owns_lock());
	}
	std::unique_lock writer(lock);
	std::shared_lock reader(lock, std::try_to_lock);
	CHECK_FALSE(reader.owns_lock());
}
