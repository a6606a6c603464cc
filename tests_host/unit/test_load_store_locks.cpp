/* SPDX-License-Identifier: MIT */
/*
 * Locks by loads, stores and fences alone: what is special to each. What they
 * have in common: test_every_lock.cpp, test_waiters.cpp.
 */
#include <klock/bakery_lock.hpp>
#include <klock/peterson_lock.hpp>
#include <klock/tournament_lock.hpp>

#include "line.hpp"
#include "stepper.hpp"

#include <catch.hpp>

#include <atomic>
using namespace klock;
using namespace unit;

/*
 * peterson_lock: who gives way, and how often.
 */
namespace peterson_tests {

TEST_CASE("peterson_lock: both enter, one after the other, in either order")
{
	peterson_lock lock;

	for (unsigned cpu : {0u, 0u, 1u, 1u, 0u, 1u}) {
		lock.lock(cpu);
		CHECK(lock.is_locked());
		CHECK_FALSE(lock.is_contended());
		lock.unlock(cpu);
		CHECK_FALSE(lock.is_locked());
	}
	for (unsigned first : {0u, 1u}) {
		line<peterson_lock> other(lock);
		lock.lock(first);
		other.add(1 - first);
		CHECK(lock.is_contended());
		lock.unlock(first);
		CHECK(other.leave() == std::vector<unsigned>{1 - first});
	}
	CHECK_FALSE(lock.is_locked());
}

/* Whether this CPU stands in its wait: it wants to, and has given way. */
static bool has_given_way(const peterson_lock &lock, unsigned cpu)
{
	const auto now = bytes_of(lock);

	return now[cpu] == 1 && now[2] == cpu;
}

TEST_CASE("peterson_lock: bypass: a waiter is bypassed once at most")
{
	for (unsigned me : {0u, 1u}) {
		peterson_lock lock;
		std::atomic<bool> served{false};
		line<peterson_lock> other(lock);
		unsigned bypassed = 0;

		lock.lock(me);
		other.start(1 - me, [&] { served = true; });
		wait_until([&] { return has_given_way(lock, 1 - me); },
			   "has given way");
		lock.unlock(me);
		for (int i = 0; i < 1000 && !served; i++) {
			lock.lock(me);
			bypassed += !served;
			lock.unlock(me);
		}
		other.leave();
		CHECK(bypassed <= 1);
	}
}

} // namespace peterson_tests

/*
 * tournament_lock: the shape of its tree, and who bypasses whom in it.
 */
namespace tournament_tests {

/* The matches that are held or waited at; each holds two `wants` bytes. */
template <typename L>
static unsigned matches_taken(const L &lock)
{
	const auto bytes = bytes_of(lock);
	unsigned taken = 0;

	for (usize at = 0; at < bytes.size(); at += 3)
		taken += bytes[at] || bytes[at + 1];
	return taken;
}

template <unsigned Cpus>
static void climbs_to_the_root_and_back()
{
	tournament_lock<Cpus> lock;
	unsigned lowest = Cpus, highest = 0, sum = 0;

	for (unsigned cpu = 0; cpu < Cpus; cpu++) {
		CAPTURE(Cpus, cpu);
		lock.lock(cpu);
		REQUIRE(lock.is_locked());
		const unsigned height = matches_taken(lock);
		lowest = height < lowest ? height : lowest;
		highest = height > highest ? height : highest;
		sum += height;
		lock.unlock(cpu);
		REQUIRE(matches_taken(lock) == 0);
		REQUIRE_FALSE(lock.is_locked());
	}
	/* A heap's leaves lie on one level or two. */
	CHECK(highest - lowest <= 1);
	CHECK((1u << highest) >= Cpus);
	CHECK((1u << lowest) <= Cpus);
	CHECK(sum >= Cpus * lowest);
}

TEST_CASE("tournament_lock: any Cpus, each climbs to the root and back")
{
	climbs_to_the_root_and_back<2>();
	climbs_to_the_root_and_back<3>();
	climbs_to_the_root_and_back<4>();
	climbs_to_the_root_and_back<5>();
	climbs_to_the_root_and_back<6>();
	climbs_to_the_root_and_back<7>();
	climbs_to_the_root_and_back<8>();
	climbs_to_the_root_and_back<9>();
	climbs_to_the_root_and_back<33>();
}

TEST_CASE(
	"tournament_lock: bypass: a fast climber bypasses one that came first")
{
	/*
	 * Matches: root (bytes 0..2) over 0|1 (3..5) and 2|3 (6..8). CPU 2
	 * holds; 0 waits at the root, 1 behind it, and last comes 3. When 2
	 * leaves, 0 is inside, 3 climbs to the root; so 3 is before 1.
	 */
	tournament_lock<4> lock;
	line<tournament_lock<4>> others(lock);
	const auto waits_at = [&](usize match, unsigned side) {
		const auto now = bytes_of(lock);
		return now[3 * match + side] == 1 && now[3 * match + 2] == side;
	};

	lock.lock(2);
	others.start(0, [&] {
		wait_until([&] { return waits_at(0, 1); }, "3 at the root");
	});
	wait_until([&] { return waits_at(0, 0); }, "0 at the root");
	others.start(1);
	wait_until([&] { return waits_at(1, 1); }, "1 behind 0");
	others.start(3);
	wait_until([&] { return waits_at(2, 1); }, "3 behind 2");
	lock.unlock(2);
	CHECK(others.leave() == std::vector<unsigned>{0, 3, 1});
}

TEST_CASE("tournament_lock: unlock gives the root back last")
{
	/*
	 * The holder of the root may free the lock. Between any two
	 * instructions of unlock: once the root's byte (0) is cleared, every
	 * other is, and all stay so.
	 */
	unsigned long n = 0;

	for (bool whole = false; can_step && !whole;) {
		tournament_lock<4> lock;
		bool free = false, at_rest = false;

		lock.lock(0);
		const u8 gave_way = bytes_of(lock)[5];
		whole = !with_intrusion(
			++n, [&] { lock.unlock(0); },
			[&] {
				const auto now = bytes_of(lock);
				free = now[0] == 0;
				at_rest = now[3] == 0 && now[5] == gave_way;
			});
		REQUIRE((!free || at_rest));
		REQUIRE(matches_taken(lock) == 0);
	}
	CHECK((n > 4 || !can_step));
}

} // namespace tournament_tests

/*
 * bakery_lock: its numbers, and their end.
 */
namespace bakery_tests {

/* The number that this CPU has taken. */
template <typename L>
static u32 number_of(const L &lock, unsigned cpu)
{
	u32 number;

	std::memcpy(&number, bytes_of(lock).data() + 4 * cpu, sizeof(number));
	return number;
}

TEST_CASE("bakery_lock: doorway: the first through it is served first")
{
	bakery_lock<9> lock;

	/* The order of arrival decides, not the CPUs' numbers. */
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

} // namespace bakery_tests

/* -- All contend, again and again ------------------------------------------ */

template <typename L>
static void all_contend(const char *name, unsigned each,
			unsigned sections_a_yield)
{
	constexpr unsigned cpus = L::max_contenders;
	L lock;

	INFO(name);
	CHECK(sections_alone(lock, cpus, each, sections_a_yield) ==
	      cpus * each);
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("by loads and stores: of all that contend one is inside")
{
	/* Finds a wrong turn, and a wrong side in a tree of any shape. It does
	 * not find a missing fence, which model_locks does, nor a wrong choice
	 * of the bakery's, which the tests above do. */
	all_contend<peterson_lock>("peterson_lock", 20000, 0);
	all_contend<tournament_lock<2>>("tournament_lock<2>", 500, 10);
	all_contend<tournament_lock<3>>("tournament_lock<3>", 500, 10);
	all_contend<tournament_lock<5>>("tournament_lock<5>", 500, 10);
	all_contend<tournament_lock<6>>("tournament_lock<6>", 500, 10);
	all_contend<tournament_lock<8>>("tournament_lock<8>", 500, 10);
	/* Few numbers, or many. */
	all_contend<bakery_lock<4, 1>>("bakery_lock<4, 1>", 500, 10);
	all_contend<bakery_lock<4, 2>>("bakery_lock<4, 2>", 500, 10);
	all_contend<bakery_lock<4, 5>>("bakery_lock<4, 5>", 500, 10);
	all_contend<bakery_lock<4>>("bakery_lock<4>", 500, 10);
}
