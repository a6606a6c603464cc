/* SPDX-License-Identifier: MIT */
/*
 * phase_fair_lock: the wrap of its counters, its capacity, its tries.
 */
#include <klock/phase_fair_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <mutex>
#include <shared_mutex>

using namespace klock;
using namespace unit;

TEST_CASE("phase_fair_lock: sizes are four counters")
{
	static_assert(sizeof(phase_fair_lock<u8>) == 4);
	static_assert(sizeof(phase_fair_lock<u16>) == 8);
	static_assert(alignof(phase_fair_lock<u8>) == 4);
	static_assert(alignof(phase_fair_lock<u16>) == 8);

	static constinit phase_fair_lock<u8> small;
	static constinit phase_fair_lock<u16> large;
	CHECK(all_zero(small));
	CHECK(all_zero(large));
}

TEMPLATE_TEST_CASE("phase_fair_lock: alone, at every value of its counters",
		   "[wrap]", u8, u16)
{
	using lock_type = phase_fair_lock<TestType>;
	lock_type lock;
	const unsigned turns = sizeof(TestType) == 1 ? 1000 : 70000;

	for (unsigned turn = 0; turn < turns; turn++) {
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.try_lock());
		REQUIRE_FALSE(lock.try_lock_shared());
		lock.unlock();
		REQUIRE_FALSE(lock.is_locked());

		lock.lock_shared();
		REQUIRE(lock.try_lock_shared());
		REQUIRE_FALSE(lock.try_lock());
		lock.unlock_shared();
		REQUIRE(lock.is_locked());
		lock.unlock_shared();
		REQUIRE_FALSE(lock.is_locked());

		if (turn % 3 == 0) {
			REQUIRE(lock.try_lock());
			REQUIRE_FALSE(lock.try_lock_shared());
			lock.unlock();
		}
	}
}

TEST_CASE("phase_fair_lock: at every start it is as it would be by use")
{
	phase_fair_lock<u8> used;

	for (unsigned served = 0; served < 256; served++) {
		REQUIRE(bytes_of(used) ==
			bytes_of(phase_fair_lock<u8>(static_cast<u8>(served))));
		used.lock();
		used.unlock();
		used.lock_shared();
		used.unlock_shared();
	}
}

TEST_CASE("phase_fair_lock: 63 readers of 8-bit counters; 64 look like none")
{
	phase_fair_lock<u8> lock(200);

	static_assert(phase_fair_lock<u8>::max_readers == 63);
	static_assert(phase_fair_lock<u16>::max_readers == 16383);
	for (unsigned reader = 0; reader < 63; reader++)
		REQUIRE(lock.try_lock_shared());
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());

	/* That is what Capacity warns of. */
	CHECK(lock.try_lock_shared());
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.try_lock());
	lock.unlock();
	for (unsigned reader = 0; reader < 64; reader++)
		lock.unlock_shared();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("phase_fair_lock: std::shared_lock and std::unique_lock take it")
{
	phase_fair_lock<u16> lock;

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
