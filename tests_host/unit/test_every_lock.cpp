/* SPDX-License-Identifier: MIT */
/*
 * What DESIGN promises of every lock of the list, whatever its algorithm.
 */
#include <klock/selftest/locks.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <mutex>
#include <string_view>
#include <type_traits>

using namespace klock;
using namespace unit;

template <typename L>
static constinit L in_static_storage;

TEST_CASE("every lock: constinit, not copied, not moved, destroyed by nothing")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		static_assert(!std::is_copy_constructible_v<L>);
		static_assert(!std::is_move_constructible_v<L>);
		static_assert(!std::is_copy_assignable_v<L>);
		static_assert(!std::is_move_assignable_v<L>);
		static_assert(std::is_trivially_destructible_v<L>);
		static_assert(std::is_standard_layout_v<L>);
		static_assert(
			std::is_same_v<decltype(L::max_contenders), const u64>);
		INFO(Subject::name);
		CHECK_FALSE(in_static_storage<L>.is_locked());
	});
}

TEST_CASE("every lock: is taken in exactly one way")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		static_assert(plain_lock<L> + node_lock<L> + cpu_lock<L> == 1);
	});
	SUCCEED();
}

TEST_CASE("every lock: is_locked says what happens, again and again")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		static typename Subject::lock lock;
		static selftest::contender<typename Subject::lock> mine(1);

		INFO(Subject::name);
		for (int i = 0; i < 600; i++) {
			mine.lock(lock);
			REQUIRE(lock.is_locked());
			mine.unlock(lock);
			REQUIRE_FALSE(lock.is_locked());
		}
	});
}

TEST_CASE("every lock: zero bytes are free, where the header says so")
{
	/* Who says that they are not: clh_lock, anderson_lock. */
	unsigned from_zero = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		const std::string_view name = Subject::name;
		static L lock;
		static selftest::contender<L> mine(1);

		if (name == "clh_lock" || name == "anderson_lock")
			return;
		std::memset(static_cast<void *>(&lock), 0, sizeof(lock));
		INFO(name);
		CHECK_FALSE(lock.is_locked());
		mine.lock(lock);
		CHECK(lock.is_locked());
		mine.unlock(lock);
		CHECK_FALSE(lock.is_locked());
		from_zero++;
	});
	CHECK(from_zero == selftest::all_locks<4>::size - 2);
}

TEST_CASE("every lock: std::scoped_lock takes those without node or number")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (plain_lock<L>) {
			INFO(Subject::name);
			static L lock;
			{
				std::scoped_lock held(lock);
				CHECK(lock.is_locked());
			}
			CHECK_FALSE(lock.is_locked());
		}
		if constexpr (plain_lock<L> && try_lockable<L>) {
			static L another, third;
			{
				std::scoped_lock both(another, third);
				CHECK(another.is_locked());
				CHECK(third.is_locked());
			}
			std::unique_lock maybe(another, std::try_to_lock);
			CHECK(maybe.owns_lock());
		}
	});
}
