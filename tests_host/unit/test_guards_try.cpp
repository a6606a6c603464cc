/* SPDX-License-Identifier: MIT */
/*
 * try_guard and irq_try_guard.
 */
#include <klock/irq_try_guard.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/try_guard.hpp>

#include <catch.hpp>

#include "guards.hpp"

using namespace klock;

/* Every lock of the list that has a try_lock(), and a node if it needs one. */
template <typename Test>
static void for_each_lock(Test test)
{
	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		static L lock;

		INFO(Subject::name);
		if constexpr (try_node_lock<L>) {
			static typename L::node node;
			test(lock, node);
		} else if constexpr (try_lockable<L>) {
			test(lock);
		}
	});
}

TEST_CASE("try_guard: holds a lock that is free, none that is held")
{
	int tried = 0;

	for_each_lock([&](auto &lock, auto &...) {
		tried++;
		if (try_guard held{lock}) {
			CHECK(lock.is_locked());
			CHECK(held);
			current_cpu = 1;
			try_guard second(lock);
			CHECK_FALSE(second);
			current_cpu = 0;
		} else {
			FAIL("it was free");
		}
		CHECK_FALSE(lock.is_locked());
	});
	CHECK(tried > 8);
}

TEST_CASE("try_guard: one that failed leaves the holder alone")
{
	ticket_lock<u8> lock;
	guard held(lock);
	{
		try_guard second(lock);
		second.unlock();
		CHECK_FALSE(second);
	}
	CHECK(lock.is_locked());
}

TEST_CASE("try_guard: is false after unlock()")
{
	for_each_lock([](auto &lock, auto &...node) {
		try_guard held(lock, node...);
		CHECK(held);
		held.unlock();
		CHECK_FALSE(held);
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("irq_try_guard: interrupts are off while it holds, and back after")
{
	for_each_lock([](auto &lock, auto &...node) {
		{
			irq_try_guard held(lock, node...);
			CHECK(held);
			CHECK_FALSE(irqs_enabled());
		}
		CHECK(irqs_enabled());
		CHECK_FALSE(lock.is_locked());
		{
			irq_try_guard held(lock, node...);
			held.unlock();
			CHECK(irqs_enabled());
			CHECK_FALSE(held);
		}
		CHECK(irqs_enabled());
	});
}

TEST_CASE("irq_try_guard: interrupts are back on at once where it fails")
{
	for_each_lock([](auto &lock, auto &...) {
		guard holder(lock);

		current_cpu = 1;
		if (irq_try_guard held{lock})
			FAIL("it was held");
		else
			CHECK(irqs_enabled());
		irq_try_guard held(lock);
		CHECK(irqs_enabled());
		held.unlock();
		CHECK(irqs_enabled());
		const irq_state before = irq_save();
		held.unlock();
		CHECK_FALSE(irqs_enabled());
		irq_restore(before);
		current_cpu = 0;
	});
}

TEST_CASE("irq_try_guard: where it fails, it leaves interrupts off that were")
{
	ticket_lock<u8> lock;
	const irq_state before = irq_save();
	{
		guard holder(lock);
		irq_try_guard held(lock);
		CHECK_FALSE(held);
		CHECK_FALSE(irqs_enabled());
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("irq_try_guard: the end of one that failed restores nothing")
{
	ticket_lock<u8> lock;
	guard holder(lock);
	irq_state before;
	{
		irq_try_guard held(lock);
		before = irq_save();
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("irq_try_guard: off before the lock is tried, on after the unlock")
{
	watchful_lock lock;
	{
		irq_try_guard held(lock);
	}
	lock.free = false;
	{
		irq_try_guard held(lock);
	}
	CHECK(lock.seen == "tut");
}
