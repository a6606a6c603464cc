/* SPDX-License-Identifier: MIT */
/*
 * tournament_lock: the shape of its tree, and who bypasses whom in it.
 */
#include <klock/tournament_lock.hpp>

#include "line.hpp"
#include "stepper.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEST_CASE("tournament_lock: sizes are three bytes a match, and zero is free")
{
	static_assert(sizeof(tournament_lock<2>) == 3);
	static_assert(sizeof(tournament_lock<3>) == 6);
	static_assert(sizeof(tournament_lock<8>) == 21);
	static_assert(sizeof(tournament_lock<255>) == 3 * 254);
	/* Burns and Lynch: not fewer registers than CPUs. */
	static_assert(sizeof(tournament_lock<2>) >= 2);
	static constinit tournament_lock<6> lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

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

TEMPLATE_TEST_CASE(
	"tournament_lock: any Cpus, each climbs to the root and back", "",
	tournament_lock<2>, tournament_lock<3>, tournament_lock<4>,
	tournament_lock<5>, tournament_lock<6>, tournament_lock<7>,
	tournament_lock<8>, tournament_lock<9>, tournament_lock<33>)
{
	constexpr unsigned cpus = TestType::max_contenders;
	TestType lock;
	unsigned lowest = cpus, highest = 0, sum = 0;

	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		CAPTURE(cpu);
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
	CHECK((1u << highest) >= cpus);
	CHECK((1u << lowest) <= cpus);
	CHECK(sum >= cpus * lowest);
}

TEMPLATE_TEST_CASE("tournament_lock: any Cpus, all contend, one is inside", "",
		   tournament_lock<2>, tournament_lock<3>, tournament_lock<5>,
		   tournament_lock<6>, tournament_lock<8>)
{
	constexpr unsigned cpus = TestType::max_contenders;
	TestType lock;
	unsigned inside = 0, sections = 0;
	std::vector<std::thread> threads;

	for (unsigned cpu = 0; cpu < cpus; cpu++)
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
	CHECK(sections == 500 * cpus);
	CHECK_FALSE(lock.is_locked());
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
	 * Whoever has the root may free the lock. Seen between any two
	 * instructions of unlock: once the root's byte (0) is cleared, so is
	 * every other, and all stay so.
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
