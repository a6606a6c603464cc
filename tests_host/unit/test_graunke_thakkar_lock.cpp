/* SPDX-License-Identifier: MIT */
/*
 * graunke_thakkar_lock: each CPU's flag, and who watches it.
 */
#include <klock/graunke_thakkar_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEST_CASE("graunke_thakkar_lock: sizes are a line for each CPU, and one")
{
	static_assert(sizeof(graunke_thakkar_lock<1>) == 2 * cache_line);
	static_assert(sizeof(graunke_thakkar_lock<7>) == 8 * cache_line);
	static constinit graunke_thakkar_lock<3> lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("graunke_thakkar_lock: all CPUs, one after another, again and again")
{
	graunke_thakkar_lock<5> lock;

	/* Each both odd and even times in a row: a flag has two values. */
	for (unsigned cpu : {0u, 1u, 1u, 4u, 4u, 4u, 0u, 2u, 3u, 2u, 2u, 0u}) {
		REQUIRE_FALSE(lock.is_locked());
		lock.lock(cpu);
		REQUIRE(lock.is_locked());
		REQUIRE_FALSE(lock.is_contended(cpu));
		lock.unlock(cpu);
	}
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("graunke_thakkar_lock: waiters are served in arrival order")
{
	graunke_thakkar_lock<9> lock;

	for (int flags_turned = 0; flags_turned < 3; flags_turned++)
		CHECK(served_behind_holder(lock, 8) == one_to(8));
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("graunke_thakkar_lock: a CPU that comes back waits for the others")
{
	/* Its own flag says neither that it is free nor that it is not. */
	graunke_thakkar_lock<2> lock;
	line<graunke_thakkar_lock<2>> others(lock);

	lock.lock(0);
	CHECK_FALSE(lock.is_contended(0));
	others.add(1);
	CHECK(lock.is_contended(0));
	lock.unlock(0);
	lock.lock(0); /* behind 1 */
	lock.unlock(0);
	CHECK(others.leave() == one_to(1));
	CHECK_FALSE(lock.is_locked());
}

namespace {

template <typename L>
concept has_try_lock = requires(L &lock) { lock.try_lock(0u); };

} // namespace
TEST_CASE("graunke_thakkar_lock: has no try_lock, as none would be right")
{
	static_assert(!has_try_lock<graunke_thakkar_lock<4>>);
	SUCCEED();
}
