/* SPDX-License-Identifier: MIT */
/*
 * Locks whose waiters stand in an array: what is special to each. What they
 * have in common: test_every_lock.cpp, test_waiters.cpp.
 */
#include <klock/anderson_lock.hpp>
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

namespace {

/* The next number to be taken: the lock's first bytes. */
template <typename L>
u32 next_of(const L &lock)
{
	u32 next;

	std::memcpy(&next, bytes_of(lock).data(), sizeof(next));
	return next;
}

template <unsigned Slots, u32 Rounds>
constexpr u32 last_of(const anderson_lock<Slots, Rounds> &)
{
	return Rounds * Slots;
}

template <typename L>
void goes_round()
{
	constexpr u32 slots = L::max_contenders;
	L lock;

	for (u32 i = 0; i < 5 * slots + 300; i++) {
		CAPTURE(slots, i);
		REQUIRE_FALSE(lock.is_locked());
		lock.lock();
		REQUIRE(lock.is_locked());
		REQUIRE(next_of(lock) <= last_of(lock) + 1);
		REQUIRE(next_of(lock) % slots == (i + 1) % slots);
		lock.unlock();
	}
}

template <unsigned Slots>
void serves_as_many_as_slots()
{
	anderson_lock<Slots, 1> lock;

	for (unsigned start = 0; start < 2 * Slots; start++) {
		CAPTURE(Slots, start);
		REQUIRE(served_behind_holder(lock, Slots - 1) ==
			one_to(Slots - 1));
		REQUIRE(next_of(lock) < 2 * Slots);
		REQUIRE_FALSE(lock.is_locked());
		lock.lock(); /* the next round starts one slot on */
		lock.unlock();
	}
}

} // namespace

TEST_CASE("anderson_lock: alone, it goes round the ring, for any Slots",
	  "[wrap]")
{
	goes_round<anderson_lock<1, 1>>();
	goes_round<anderson_lock<2, 1>>();
	goes_round<anderson_lock<3, 1>>();
	goes_round<anderson_lock<4, 1>>();
	goes_round<anderson_lock<5, 3>>();
	goes_round<anderson_lock<6, 2>>();
	goes_round<anderson_lock<7, 1>>();
	goes_round<anderson_lock<100, 1>>();
	goes_round<anderson_lock<3>>();
	goes_round<anderson_lock<4>>();
}

TEST_CASE("anderson_lock: capacity is Slots, from each slot, in order",
	  "[wrap]")
{
	serves_as_many_as_slots<1>();
	serves_as_many_as_slots<2>();
	serves_as_many_as_slots<3>();
	serves_as_many_as_slots<4>();
	serves_as_many_as_slots<5>();
	serves_as_many_as_slots<7>();
}

TEST_CASE("anderson_lock: the numbers stay below 2 x Slots, set back each "
	  "round")
{
	constexpr unsigned slots = 3;

	/* As it is in a section, so that it sees each number. */
	struct watched : anderson_lock<slots, 1> {
		void lock()
		{
			anderson_lock::lock();
			const u32 now = next_of(*this);
			largest = now > largest ? now : largest;
		}
		u32 largest = 0;
	} lock;

	CHECK(sections_alone(lock, slots, 1000, 10) == 3000);
	CHECK(lock.largest <= 2 * slots);
}

} // namespace anderson_tests

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

/* Three wraps of 256 tickets, tries that fail among them. */
template <unsigned Cpus, typename Ticket>
static void one_after_another()
{
	auto made = std::make_unique<timeout_lock<Cpus, Ticket>>();
	auto &lock = *made;

	for (unsigned i = 0; i < 800; i++) {
		const unsigned cpu = i * 3 % Cpus, other = (cpu + 1) % Cpus;

		CAPTURE(Cpus, sizeof(Ticket), i);
		if (i % 3 == 0)
			lock.lock(cpu);
		else if (i % 3 == 1)
			REQUIRE(lock.try_lock(cpu));
		else
			REQUIRE(lock.try_lock_until(cpu, passed));
		REQUIRE(lock.is_locked());
		REQUIRE(lock.is_queued(cpu));
		if (Cpus > 1) {
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

TEST_CASE("timeout_lock: all CPUs, one after another, round the ring", "[wrap]")
{
	one_after_another<1, u8>();
	one_after_another<2, u8>();
	one_after_another<5, u8>();
	one_after_another<256, u8>();
	one_after_another<5, u16>();
	one_after_another<5, u32>();
}

TEST_CASE("timeout_lock: the first in line is served first")
{
	timeout_lock<9> lock;
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
