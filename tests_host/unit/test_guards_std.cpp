/* SPDX-License-Identifier: MIT */
/*
 * The standard library's guards, which a hosted program may prefer, over every
 * plain lock.
 */
#include <klock/selftest/locks.hpp>

#include <catch.hpp>

#include <mutex>
#include <thread>

using namespace klock;

/* Every plain lock of the list; two of each. */
template <typename Test>
static int for_each_lock(Test test)
{
	int tested = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		static L lock, other;

		INFO(Subject::name);
		if constexpr (try_plain_lock<L>) {
			test(lock, other);
			tested++;
		}
	});
	return tested;
}

TEST_CASE("std::lock_guard, unique_lock and scoped_lock take plain locks")
{
	CHECK(for_each_lock([](auto &lock, auto &other) {
		      {
			      std::lock_guard held(lock);
			      CHECK(lock.is_locked());
		      }
		      CHECK_FALSE(lock.is_locked());
		      {
			      std::unique_lock held(lock, std::try_to_lock);
			      CHECK(held.owns_lock());
			      std::unique_lock again(lock, std::try_to_lock);
			      CHECK_FALSE(again.owns_lock());
			      held.unlock();
			      CHECK_FALSE(lock.is_locked());
			      CHECK(again.try_lock());
		      }
		      CHECK_FALSE(lock.is_locked());
		      {
			      std::scoped_lock held(lock, other);
			      CHECK(lock.is_locked());
			      CHECK(other.is_locked());
		      }
		      CHECK_FALSE(lock.is_locked());
		      CHECK_FALSE(other.is_locked());
	      }) > 8);
}

TEST_CASE("std::scoped_lock: two locks in opposite order do not deadlock")
{
	static constexpr int rounds = 2000;
	ticket_lock<u8> a;
	ttas_lock b;
	int count = 0;
	std::thread other([&] {
		for (int i = 0; i < rounds; i++) {
			std::scoped_lock held(b, a);
			count++;
		}
	});

	for (int i = 0; i < rounds; i++) {
		std::scoped_lock held(a, b);
		count++;
	}
	other.join();
	CHECK(count == 2 * rounds);
}
