/* SPDX-License-Identifier: MIT */
/*
 * Locks of one word, or two: tickets, test-and-set; what is special to each.
 * What they have in common: test_every_lock.cpp, test_waiters.cpp.
 */
#include <klock/narrow_ticket_lock.hpp>
#include <klock/padded_ticket_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/proportional_ticket_lock.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/ttas_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <atomic>
#include <set>
#include <thread>
#include <vector>
using namespace klock;
using namespace unit;

TEST_CASE("ticket_lock: lock_paced tells how many are ahead, modulo the width")
{
	/* Numbers 254 (the holder), 255 and 0. */
	ticket_lock<u8> lock(254);
	std::atomic<int> ahead[2] = {-1, -1};
	std::vector<std::thread> waiters;

	lock.lock();
	for (std::atomic<int> &mine : ahead) {
		const selftest::doorway<ticket_lock<u8>> door(lock);
		waiters.emplace_back([&] {
			lock.lock_paced([&mine](u8 distance) {
				mine = distance;
				return 1u;
			});
			lock.unlock();
		});
		wait_until([&] { return door.passed(0) && mine != -1; },
			   "a pause");
	}
	CHECK(ahead[0] == 1);
	CHECK(ahead[1] == 2);
	lock.unlock();
	for (std::thread &waiter : waiters)
		waiter.join();
	CHECK_FALSE(lock.is_locked());
}

/* Every owner, with one waiter, whose ticket the unlock must keep. */
template <unsigned Bits>
static void unlocks_with_a_waiter()
{
	using lock_type = narrow_ticket_lock<Bits>;

	for (unsigned served = 0; served < lock_type::max_contenders;
	     served++) {
		lock_type lock(static_cast<u8>(served));
		const lock_type after(static_cast<u8>(served + 2));

		CAPTURE(Bits, served);
		REQUIRE(served_behind_holder(lock, 1) == one_to(1));
		REQUIRE(bytes_of(lock) == bytes_of(after));
	}
}

TEST_CASE("narrow_ticket_lock: an unlock leaves the tickets taken alone",
	  "[wrap]")
{
	unlocks_with_a_waiter<2>();
	unlocks_with_a_waiter<3>();
	unlocks_with_a_waiter<4>();
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

/* -- proportional_ticket_lock: how long a waiter pauses -------------------- */

TEST_CASE("proportional_ticket_lock: zero bytes are free, with a base of zero")
{
	static constinit proportional_ticket_lock<u16> zero(0);
	static constinit proportional_ticket_lock<u16> usual;

	CHECK(all_zero(zero));
	CHECK_FALSE(all_zero(usual));
	zero.lock();
	CHECK(zero.is_locked());
	zero.unlock();
	CHECK_FALSE(zero.is_locked());
}

TEST_CASE("proportional_ticket_lock: pauses for each waiter ahead, never for "
	  "none")
{
	using lock8 = proportional_ticket_lock<u8>;
	using lock32 = proportional_ticket_lock<u32>;

	static_assert(lock8::turns_for(1, 64) == 64);
	static_assert(lock8::turns_for(255, 64) == 255 * 64);
	static_assert(lock32::turns_for(3, 100) == 300);
	static_assert(lock8::turns_for(1, 0) == 1);
	static_assert(lock32::turns_for(u32{1} << 31, 2) == 1);
	SUCCEED();
}

TEST_CASE("proportional_ticket_lock: the base may change while others wait")
{
	proportional_ticket_lock<u8> lock(1);
	line<proportional_ticket_lock<u8>> others(lock);

	lock.lock();
	for (unsigned number : one_to(4)) {
		others.add(number);
		lock.set_base(number);
	}
	lock.unlock();
	CHECK(others.leave() == one_to(4));
}

/* -- tas_lock and ttas_lock: a byte, or a word ----------------------------- */

template <typename L>
static void fills_its_word(usize size)
{
	L lock;
	L held{taken_already()};

	REQUIRE(sizeof(L) == size);
	CHECK(bytes_of(lock) == std::vector<u8>(size));
	lock.lock();
	CHECK(bytes_of(lock) == bytes_of(held));
	CHECK_FALSE(lock.try_lock());
	CHECK(lock.is_locked());
	lock.unlock();
	held.unlock();
	CHECK(lock.try_lock());
	lock.unlock();
	CHECK(bytes_of(lock) == std::vector<u8>(size));
	CHECK(bytes_of(held) == bytes_of(lock));
}

TEST_CASE("sized_tas_lock, sized_ttas_lock: the whole word is the flag")
{
	fills_its_word<tas_lock>(1);
	fills_its_word<sized_tas_lock<u16>>(2);
	fills_its_word<sized_tas_lock<u32>>(4);
	fills_its_word<sized_tas_lock<u64>>(8);
	fills_its_word<ttas_lock>(1);
	fills_its_word<sized_ttas_lock<u16>>(2);
	fills_its_word<sized_ttas_lock<u32>>(4);
	fills_its_word<sized_ttas_lock<u64>>(8);
}

/* -- ttas_lock and backoff_ttas_lock: how long their waiters pause --------- */

TEST_CASE("ttas_lock: a back-off grows with the doublings, up to its cap")
{
	constexpr u32 first = exponential_backoff::first_limit;
	constexpr u32 last = exponential_backoff::last_limit;
	u32 largest = 0;

	for (usize place = 0; place < 4096; place += 16) {
		exponential_backoff pause(place);
		u32 limit = first;

		for (int look = 0; look < 40; look++) {
			const u32 turns = pause();
			REQUIRE(turns >= 1);
			REQUIRE(turns <= limit);
			largest = turns > largest ? turns : largest;
			limit = limit < last ? 2 * limit : last;
		}
	}
	CHECK(largest > last - last / 16);
}

/* The pauses that a waiter makes whose stack lies so far from the lock. */
static std::vector<u32> pauses_at(usize place)
{
	exponential_backoff pause(place);
	std::vector<u32> pauses;

	for (int i = 0; i < 4; i++)
		pauses.push_back(pause());
	return pauses;
}

TEST_CASE("ttas_lock: waiters on different stacks do not march in step")
{
	/* 64 stacks, as far apart as kernels and hosts lay them out. */
	for (usize apart : {usize{1} << 12, usize{1} << 13, usize{1} << 14,
			    usize{1} << 16, usize{1} << 20, usize{1} << 23}) {
		std::set<std::vector<u32>> different;

		for (usize cpu = 0; cpu < 64; cpu++)
			different.insert(pauses_at(0x7f00 + cpu * apart));
		CAPTURE(apart);
		CHECK(different.size() == 64);
	}
}

/*
 * initially_held: nobody gets in before one unlock(), and then it is a lock as
 * any other. The first use of each counter, so also the first of its wrap.
 */
namespace {

template <typename L>
constinit L gate(initially_held);

void opens_once(const char *name, some_lock &lock)
{
	INFO(name);
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	for (int i = 0; i < 300; i++) {
		CHECK_FALSE(lock.try_lock());
		lock.unlock();
		CHECK_FALSE(lock.is_locked());
		if (lock.has_try_lock)
			REQUIRE(lock.try_lock());
		else
			lock.lock();
		CHECK(lock.is_locked());
	}
}

} // namespace

TEST_CASE("initially_held: one unlock() opens it")
{
	unsigned tested = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;

		if constexpr (std::is_constructible_v<L, taken_already>) {
			lock_of<L> lock(gate<L>);

			opens_once(Subject::name, lock);
			tested++;
		}
	});
	CHECK(tested == 15);
}
