/* SPDX-License-Identifier: MIT */
/*
 * Locks whose waiters stand in an array, each by a script.
 */
#include <klock/anderson_lock.hpp>
#include <klock/graunke_thakkar_lock.hpp>
#include <klock/timeout_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <memory>
using namespace klock;
using namespace unit;

/*
 * anderson_lock: its ring, and the counter that must not run out.
 */
namespace anderson_tests {

TEST_CASE("anderson_lock: sizes are a line for each slot, and one")
{
	static_assert(sizeof(anderson_lock<1>) == 2 * cache_line);
	static_assert(sizeof(anderson_lock<7>) == 8 * cache_line);
	static_assert(alignof(anderson_lock<7>) == cache_line);
	static constinit anderson_lock<3> lock;

	CHECK_FALSE(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
	lock.lock();
	CHECK(lock.is_locked());
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

/* The next number to be taken: the lock's first bytes. */
template <typename L>
static u32 next_of(const L &lock)
{
	u32 drawn;

	std::memcpy(&drawn, bytes_of(lock).data(), sizeof(drawn));
	return drawn;
}

template <unsigned Slots, u32 Rounds>
static constexpr u32 last_of(const anderson_lock<Slots, Rounds> &)
{
	return Rounds * Slots;
}

TEMPLATE_TEST_CASE(
	"anderson_lock: alone, it goes round the ring, for any Slots", "[wrap]",
	(anderson_lock<1, 1>), (anderson_lock<2, 1>), (anderson_lock<3, 1>),
	(anderson_lock<4, 1>), (anderson_lock<5, 3>), (anderson_lock<6, 2>),
	(anderson_lock<7, 1>), (anderson_lock<100, 1>), anderson_lock<3>,
	anderson_lock<4>)
{
	constexpr u32 slots = TestType::max_contenders;
	TestType lock;

	for (u32 i = 0; i < 5 * slots + 300; i++) {
		CAPTURE(i);
		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE(next_of(lock) <= last_of(lock) + 1);
		REQUIRE(next_of(lock) % slots == (i + 1) % slots);
		lock.unlock();
	}
}

TEMPLATE_TEST_CASE("anderson_lock: capacity is Slots, from each slot, in order",
		   "[wrap]", (anderson_lock<1, 1>), (anderson_lock<2, 1>),
		   (anderson_lock<3, 1>), (anderson_lock<4, 1>),
		   (anderson_lock<5, 1>), (anderson_lock<7, 1>))
{
	constexpr unsigned slots = TestType::max_contenders;
	TestType lock;

	for (unsigned start = 0; start < 2 * slots; start++) {
		CAPTURE(start);
		REQUIRE(served_behind_holder(lock, slots - 1) ==
			one_to(slots - 1));
		REQUIRE(next_of(lock) < 2 * slots);
		REQUIRE_FALSE(lock.is_locked());
		lock.lock(); /* the next round starts one slot on */
		lock.unlock();
	}
}

TEST_CASE("anderson_lock: the numbers stay below 2 x Slots, set back each "
	  "round")
{
	constexpr unsigned slots = 3;
	anderson_lock<slots, 1> lock;
	unsigned inside = 0, sections = 0;
	u32 largest = 0;
	std::vector<std::thread> threads;

	for (unsigned t = 0; t < slots; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < 1000; i++) {
				lock.lock();
				inside++;
				if (const u32 now = next_of(lock);
				    now > largest)
					largest = now;
				sections += inside == 1;
				watchdog::step();
				std::this_thread::yield();
				inside--;
				lock.unlock();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(sections == 3000);
	CHECK(largest <= 2 * slots);
}

namespace {

template <typename L>
concept has_try_lock = requires(L &lock) { lock.try_lock(); };

} // namespace
} // namespace anderson_tests

/*
 * graunke_thakkar_lock: each CPU's flag, and who watches it.
 */
namespace graunke_thakkar_tests {

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
} // namespace graunke_thakkar_tests

/*
 * timeout_lock: its places, who gives them up and takes them up again.
 */
namespace timeout_tests {

namespace {

/* So that a wait ends at its first look. */
constexpr u64 passed = 0;

template <typename L>
void check_free(L &lock, unsigned cpu)
{
	CHECK_FALSE(lock.is_locked());
	CHECK_FALSE(lock.is_queued(cpu));
}

} // namespace

TEST_CASE("timeout_lock: sizes are two lines for each CPU, and one")
{
	static_assert(sizeof(timeout_lock<1>) == 3 * cache_line);
	static_assert(sizeof(timeout_lock<2>) == 5 * cache_line);
	static_assert(sizeof(timeout_lock<3>) == 8 * cache_line);
	static_assert(sizeof(timeout_lock<8>) == 17 * cache_line);
	static_assert(alignof(timeout_lock<8>) == cache_line);
	static constinit timeout_lock<3> lock;

	CHECK(all_zero(lock));
	CHECK_FALSE(lock.is_locked());
}

TEMPLATE_TEST_CASE("timeout_lock: all CPUs, one after another, round the ring",
		   "[wrap]", (timeout_lock<1, u8>), (timeout_lock<2, u8>),
		   (timeout_lock<5, u8>), (timeout_lock<256, u8>),
		   (timeout_lock<5, u16>), (timeout_lock<5>))
{
	constexpr unsigned cpus = TestType::max_contenders;
	auto made = std::make_unique<TestType>();
	TestType &lock = *made;

	/* Three wraps of 256 tickets, tries that fail among them. */
	for (unsigned i = 0; i < 800; i++) {
		const unsigned cpu = i * 3 % cpus, other = (cpu + 1) % cpus;

		CAPTURE(i);
		if (i % 3 == 0)
			lock.lock(cpu);
		else if (i % 3 == 1)
			REQUIRE(lock.try_lock(cpu));
		else
			REQUIRE(lock.try_lock_until(cpu, passed));
		REQUIRE(lock.is_locked());
		REQUIRE(lock.is_queued(cpu));
		if (cpus > 1) {
			REQUIRE_FALSE(lock.try_lock(other));
			if (i % 2)
				REQUIRE_FALSE(
					lock.try_lock_until(other, passed));
			REQUIRE_FALSE(lock.is_queued(other));
		}
		lock.unlock(cpu);
		REQUIRE_FALSE(lock.is_locked());
		REQUIRE_FALSE(lock.is_queued(cpu));
	}
}

TEST_CASE("timeout_lock: the first in line is served first")
{
	timeout_lock<9> lock;

	CHECK(served_behind_holder(lock, 8) == one_to(8));
	check_free(lock, 0);

	line<timeout_lock<9>> others(lock);
	lock.lock(4);
	CHECK_FALSE(lock.is_contended());
	for (unsigned cpu : {8u, 0u, 6u, 5u, 1u}) {
		others.add(cpu);
		CHECK(lock.is_contended());
	}
	lock.unlock(4);
	CHECK(others.leave() == std::vector<unsigned>{8, 0, 6, 5, 1});
}

TEST_CASE("timeout_lock: who gives up is passed over, however many")
{
	timeout_lock<9> lock;
	line<timeout_lock<9>> others(lock);

	lock.lock(0);
	for (unsigned cpu : {1u, 2u})
		CHECK_FALSE(lock.try_lock_until(cpu, passed));
	others.add(3);
	for (unsigned cpu : {4u, 5u, 6u})
		CHECK_FALSE(lock.try_lock_until(cpu, passed));
	others.add(7);
	CHECK_FALSE(lock.try_lock_until(8, passed));
	lock.unlock(0);
	CHECK(others.leave() == std::vector<unsigned>{3, 7});
	check_free(lock, 0);
	/* Their places are gone: each takes a new one. */
	for (unsigned cpu = 0; cpu < 9; cpu++) {
		CHECK(lock.try_lock(cpu));
		lock.unlock(cpu);
	}
}

TEST_CASE("timeout_lock: who comes back in time has its old place")
{
	timeout_lock<5> lock;
	line<timeout_lock<5>> others(lock);

	lock.lock(0);
	CHECK_FALSE(lock.try_lock_until(1, passed));
	others.add(2);
	CHECK_FALSE(lock.try_lock_until(3, passed));
	others.add(4);
	others.add(3);
	others.add(1);
	lock.unlock(0);
	CHECK(others.leave() == std::vector<unsigned>{1, 2, 3, 4});
	check_free(lock, 0);
}

TEST_CASE("timeout_lock: a try behind one's own place does not take another")
{
	timeout_lock<2> lock;

	lock.lock(0);
	for (unsigned times = 0; times < 10; times++) {
		CHECK_FALSE(lock.try_lock_until(1, passed));
		CHECK_FALSE(lock.try_lock(1));
	}
	lock.unlock(0);
	CHECK(lock.try_lock(1));
	CHECK_FALSE(lock.try_lock(0));
	lock.unlock(1);
	check_free(lock, 1);
}

TEST_CASE("timeout_lock: try_lock_for waits so long, and a sum does not wrap")
{
	timeout_lock<2> lock;

	CHECK(lock.try_lock_for(0, ~u64{0}));
	const u64 before = cycles();
	CHECK_FALSE(lock.try_lock_for(1, 5000));
	CHECK(cycles() - before >= 5000);
	lock.unlock(0);
	CHECK(lock.try_lock_for(1, 0));
	lock.unlock(1);

	/*
	 * A waiter with no effective deadline gets the lock when it is
	 * released.
	 */
	lock.lock(0);
	bool taken = false;
	std::thread other([&] { taken = lock.try_lock_for(1, ~u64{0}); });
	wait_until([&] { return lock.is_queued(1); }, "the other to wait");
	lock.unlock(0);
	other.join();
	CHECK(taken);
	lock.unlock(1);
}

} // namespace timeout_tests
