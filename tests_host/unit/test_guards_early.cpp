/* SPDX-License-Identifier: MIT */
/*
 * Guards that release before their block ends, and that adopt what is taken.
 */
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/locks.hpp>

#include <catch.hpp>

#include "guards.hpp"

using namespace klock;

/* Every lock of the list, with a node where it needs one. */
template <typename Test>
static void for_each_lock(Test test)
{
	selftest::all_locks<4>::for_each([&]<typename Subject>() {
		using L = typename Subject::lock;
		static L lock;

		INFO(Subject::name);
		if constexpr (node_lock<L>) {
			static typename L::node node;
			test(lock, node);
		} else {
			test(lock);
		}
	});
}

TEST_CASE("guard: unlock() releases every kind of lock early, and once")
{
	for_each_lock([](auto &lock, auto &...node) {
		guard held(lock, node...);
		CHECK(lock.is_locked());
		held.unlock();
		CHECK_FALSE(lock.is_locked());
		{
			/* Somebody else's now: the two that are left are none
			 * of ours. */
			guard other(lock, node...);
			held.unlock();
			CHECK(lock.is_locked());
		}
		CHECK_FALSE(lock.is_locked());
	});
}

TEST_CASE("guard: after unlock() its end does nothing")
{
	watchful_lock lock;
	{
		guard held(lock);
		held.unlock();
		CHECK(lock.seen == "LU");
	}
	CHECK(lock.seen == "LU");
}

TEST_CASE("irq_guard: unlock() releases, then restores what interrupts were")
{
	for_each_lock([](auto &lock, auto &...node) {
		irq_guard held(lock, node...);
		CHECK_FALSE(irqs_enabled());
		held.unlock();
		CHECK_FALSE(lock.is_locked());
		CHECK(irqs_enabled());
	});

	watchful_lock lock;
	{
		irq_guard held(lock);
		held.unlock();
		CHECK(lock.seen == "lu");
	}
	CHECK(lock.seen == "lu");
}

TEST_CASE("irq_guard: after unlock() its end leaves interrupts as they are")
{
	ticket_lock<u8> lock;
	irq_state before;
	{
		irq_guard held(lock);
		held.unlock();
		CHECK(irqs_enabled());
		held.unlock();
		CHECK(irqs_enabled());
		before = irq_save();
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: unlock() of an inner one leaves interrupts off")
{
	ticket_lock<u8> outer, inner;
	{
		irq_guard a(outer);
		irq_guard b(inner);

		b.unlock();
		CHECK_FALSE(irqs_enabled());
		CHECK_FALSE(inner.is_locked());
		CHECK(outer.is_locked());
	}
	CHECK(irqs_enabled());
}

TEST_CASE("guard: adopts what try_lock() took, of every kind")
{
	ticket_lock<u16> ticket;
	REQUIRE(ticket.try_lock());
	{
		guard held(ticket, adopt);
		CHECK(ticket.is_locked());
	}
	CHECK_FALSE(ticket.is_locked());

	mcs_lock mcs;
	mcs_node node;
	REQUIRE(mcs.try_lock(node));
	{
		guard held(mcs, node, adopt);
		CHECK(mcs.is_locked());
	}
	CHECK_FALSE(mcs.is_locked());

	bakery_lock<4> bakery;
	current_cpu = 2;
	bakery.lock(2);
	{
		guard held(bakery, adopt);
	}
	CHECK_FALSE(bakery.is_locked());
	bakery.lock(3);
	{
		guard held(bakery, 3u, adopt);
		held.unlock();
		CHECK_FALSE(bakery.is_locked());
	}
	current_cpu = 0;
	CHECK_FALSE(bakery.is_locked());
}

TEST_CASE("guard: adopting takes nothing itself")
{
	watchful_lock lock;
	{
		guard held(lock, adopt);
		CHECK(lock.seen == "");
	}
	CHECK(lock.seen == "U");
}
