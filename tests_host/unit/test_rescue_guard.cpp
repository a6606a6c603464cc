/* SPDX-License-Identifier: MIT */
/*
 * rescue_guard: takes what it can have, waits so long and no longer, unlocks
 * what it took and nothing else.
 */
#include <klock/irq.hpp>
#include <klock/irq_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/selftest/locks.hpp>

#include <catch.hpp>

#include "guards.hpp"

using namespace klock;

namespace {

/* Free from the attempt with this number on; counts all. */
struct scripted_lock {
	void lock() {}
	void unlock() { unlocked++; }
	bool try_lock()
	{
		interrupts_seen |= irqs_enabled();
		return ++attempts >= free_from;
	}

	u32 free_from = 1, attempts = 0, unlocked = 0;
	bool interrupts_seen = false;
};

} // namespace

TEST_CASE("rescue_guard: takes a free lock, and unlocks it")
{
	int taken = 0;

	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		if constexpr (try_plain_lock<L>) {
			static L lock;

			INFO(Subject::name);
			taken++;
			{
				rescue_guard held(lock);
				CHECK(held);
				CHECK(lock.is_locked());
			}
			CHECK_FALSE(lock.is_locked());
		}
	});
	CHECK(taken > 6);
}

TEST_CASE("rescue_guard: goes on without a lock that is held, and leaves it")
{
	ticket_lock<u8> lock;
	bool went_on = false;

	lock.lock();
	{
		rescue_guard held(lock, 100);
		CHECK_FALSE(held);
		went_on = true;
	}
	CHECK(went_on);
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock());
	lock.unlock();
	CHECK(lock.try_lock());
}

TEST_CASE("rescue_guard: patience is the number of spins between attempts")
{
	for (u32 patience : {0u, 1u, 7u}) {
		scripted_lock never{.free_from = ~0u};
		scripted_lock at_last{.free_from = patience + 1};

		{
			rescue_guard held(never, patience);
			CHECK_FALSE(held);
		}
		CHECK(never.attempts == patience + 1);
		CHECK(never.unlocked == 0);
		{
			rescue_guard held(at_last, patience);
			CHECK(held);
			CHECK(at_last.unlocked == 0);
		}
		CHECK(at_last.attempts == patience + 1);
		CHECK(at_last.unlocked == 1);
	}
	scripted_lock never{.free_from = ~0u};
	{
		rescue_guard held(never);
	}
	CHECK(never.attempts ==
	      rescue_guard<scripted_lock>::usual_patience + 1);
}

TEST_CASE("rescue_guard: interrupts are off throughout, then as they were")
{
	scripted_lock second_time{.free_from = 2}, never{.free_from = ~0u};

	REQUIRE(irqs_enabled());
	for (scripted_lock *lock : {&second_time, &never}) {
		{
			rescue_guard held(*lock, 3);
			CHECK_FALSE(irqs_enabled());
		}
		CHECK_FALSE(lock->interrupts_seen);
		CHECK(irqs_enabled());
	}
	const irq_state before = irq_save();
	{
		rescue_guard held(second_time);
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("rescue_guard: an irq_lock, too, and at() for its caller")
{
	irq_lock<ticket_lock<u8>> lock;
	{
		rescue_guard held(lock);
		CHECK(held);
		CHECK(lock.is_locked());
		rescue_guard second(at(lock, {__FILE__, __LINE__}), 3);
		CHECK_FALSE(second);
	}
	CHECK_FALSE(lock.is_locked());
}
