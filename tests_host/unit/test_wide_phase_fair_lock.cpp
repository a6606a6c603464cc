/* SPDX-License-Identifier: MIT */
/*
 * wide_phase_fair_lock: the wrap of its counters, its tries, what it has not.
 */
#include <klock/wide_phase_fair_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <memory>
#include <mutex>
#include <shared_mutex>

using namespace klock;
using namespace unit;

TEST_CASE("wide_phase_fair_lock: size, and what it counts")
{
	using lock = wide_phase_fair_lock;

	static_assert(sizeof(lock) == 16);
	static_assert(alignof(lock) == 16);
	static_assert(lock::max_readers == (u64{1} << 30) - 1);
	static_assert(lock::max_contenders == u64{1} << 32);
	static_assert(try_shared_lockable<lock> && !try_lockable<lock>);

	static constinit lock free;
	CHECK(all_zero(free));
}

TEST_CASE("wide_phase_fair_lock: alone, over the wrap of readers and of all")
{
	/* Readers wrap at 2^30, writers at 2^32. */
	for (const u32 wrap : {0u, 1u << 30, 3u << 30})
		for (u32 served = wrap - 3; served != wrap + 3; served++) {
			wide_phase_fair_lock lock(served);
			const wide_phase_fair_lock after(served + 1);
			CAPTURE(served);

			lock.lock();
			REQUIRE(lock.is_locked());
			REQUIRE_FALSE(lock.try_lock_shared());
			lock.unlock();
			REQUIRE_FALSE(lock.is_locked());
			lock.lock_shared();
			REQUIRE(lock.is_locked());
			lock.unlock_shared();
			REQUIRE(bytes_of(lock) == bytes_of(after));

			REQUIRE(lock.try_lock_shared());
			REQUIRE(lock.try_lock_shared());
			lock.unlock_shared();
			REQUIRE(lock.is_locked());
			lock.unlock_shared();
			REQUIRE_FALSE(lock.is_locked());
		}
}

TEST_CASE("wide_phase_fair_lock: more readers at once than 16 bits count")
{
	wide_phase_fair_lock lock(7);

	for (unsigned reader = 0; reader < 70000; reader++)
		REQUIRE(lock.try_lock_shared());
	REQUIRE(lock.is_locked());
	for (unsigned reader = 0; reader < 70000; reader++)
		lock.unlock_shared();
	REQUIRE_FALSE(lock.is_locked());
}

TEST_CASE("wide_phase_fair_lock: std::shared_lock and std::unique_lock take it")
{
	wide_phase_fair_lock lock;

	{
		std::shared_lock one(lock);
		std::shared_lock two(lock, std::try_to_lock);
		CHECK(two.owns_lock());
	}
	std::unique_lock writer(lock);
	std::shared_lock reader(lock, std::try_to_lock);
	CHECK_FALSE(reader.owns_lock());
}
