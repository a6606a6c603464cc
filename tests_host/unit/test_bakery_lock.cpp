/* SPDX-License-Identifier: MIT */
/*
 * bakery_lock: its numbers, and their end.
 */
#include <klock/bakery_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <atomic>

using namespace klock;
using namespace unit;

TEST_CASE("bakery_lock: sizes are a register for each CPU, and zero is free")
{
	/* Burns and Lynch: no fewer registers than CPUs. As many, here. */
	static_assert(sizeof(bakery_lock<2>) == 2 * sizeof(u32));
	static_assert(sizeof(bakery_lock<255>) == 255 * sizeof(u32));
	static constinit bakery_lock<5> lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

/* The number that this CPU has taken. */
template <typename L>
static u32 number_of(const L &lock, unsigned cpu)
{
	u32 number;

	std::memcpy(&number, bytes_of(lock).data() + 4 * cpu, sizeof(number));
	return number;
}

TEST_CASE("bakery_lock: all CPUs, one after another, each takes the number 1")
{
	bakery_lock<5> lock;

	for (unsigned cpu : {0u, 4u, 4u, 1u, 3u, 2u, 0u}) {
		lock.lock(cpu);
		CHECK(lock.is_locked());
		CHECK_FALSE(lock.is_contended());
		CHECK(lock.is_queued(cpu));
		CHECK(number_of(lock, cpu) == 1);
		lock.unlock(cpu);
		CHECK_FALSE(lock.is_queued(cpu));
		CHECK(all_zero(lock));
	}
}

TEST_CASE("bakery_lock: doorway: the first through it is served first")
{
	bakery_lock<9> lock;

	CHECK(served_behind_holder(lock, 8) == one_to(8));
	CHECK(all_zero(lock));

	/* And not in the order of their numbers as CPUs. */
	line<bakery_lock<9>> others(lock);
	lock.lock(4);
	for (unsigned cpu : {8u, 0u, 6u, 5u, 1u})
		others.add(cpu);
	CHECK(lock.is_contended());
	CHECK(number_of(lock, 4) == 1);
	CHECK(number_of(lock, 8) == 2);
	CHECK(number_of(lock, 1) == 6);
	lock.unlock(4);
	CHECK(others.leave() == std::vector<unsigned>{8, 0, 6, 5, 1});
}

/* Makes a CPU that is not there store a number, or that it is choosing. */
template <typename L>
static void pretend(L &lock, unsigned cpu, u32 number)
{
	__atomic_store_n(reinterpret_cast<u32 *>(&lock) + cpu, number,
			 __ATOMIC_SEQ_CST);
}

TEST_CASE(
	"bakery_lock: who is choosing is waited for; of two 1s the CPU decides")
{
	constexpr u32 choosing = ~u32{0};

	for (const unsigned other : {0u, 2u}) {
		bakery_lock<3> lock;
		line<bakery_lock<3>> one(lock);
		std::atomic<bool> inside{false};
		const auto inside_soon = [&] {
			std::this_thread::sleep_for(
				std::chrono::milliseconds(20));
			return inside.load();
		};

		/* Both looked when nobody had a number: both take 1. */
		CAPTURE(other);
		pretend(lock, other, choosing);
		one.start(1, [&] { inside = true; });
		wait_until([&] { return number_of(lock, 1) == 1; }, "drawn");
		CHECK_FALSE(inside_soon());
		pretend(lock, other, 1);
		if (other < 1)
			CHECK_FALSE(inside_soon());
		else
			wait_until([&] { return inside.load(); }, "first");
		pretend(lock, other, 0);
		one.leave();
		CHECK(inside);
	}
}

TEST_CASE("bakery_lock: numbers grow while somebody waits, and then start anew")
{
	bakery_lock<2> lock;

	for (int round = 0; round < 3; round++) {
		lock.lock(0);
		line<bakery_lock<2>> other(lock);
		other.add(1);
		CHECK(number_of(lock, 1) == 2);
		lock.unlock(0);
		other.leave();
		CHECK(all_zero(lock));
	}
}

TEST_CASE("bakery_lock: at the numbers' end an arriving CPU waits for all to "
	  "release")
{
	/* Numbers 1 and 2 only: the third is turned away, and then takes 1. */
	bakery_lock<3, 2> lock;
	line<bakery_lock<3, 2>> others(lock);
	u32 taken_by_2 = 0;

	lock.lock(0);
	others.add(1);
	CHECK(number_of(lock, 1) == 2);
	others.start(2, [&] { taken_by_2 = number_of(lock, 2); });
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	CHECK_FALSE(lock.is_queued(2));
	lock.unlock(0);
	CHECK(others.leave() == one_to(2));
	CHECK(taken_by_2 == 1);
	CHECK(all_zero(lock));
}

TEMPLATE_TEST_CASE("bakery_lock: few numbers or many, one is inside", "",
		   (bakery_lock<4, 1>), (bakery_lock<4, 2>),
		   (bakery_lock<4, 5>), (bakery_lock<4>))
{
	TestType lock;
	unsigned inside = 0, sections = 0;
	std::vector<std::thread> threads;

	for (unsigned cpu = 0; cpu < 4; cpu++)
		threads.emplace_back([&, cpu] {
			for (int i = 0; i < 500; i++) {
				lock.lock(cpu);
				inside++;
				sections += inside == 1;
				std::this_thread::yield();
				inside--;
				lock.unlock(cpu);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(sections == 2000);
	CHECK(all_zero(lock));
}
