/* SPDX-License-Identifier: MIT */
/*
 * What a guard takes a lock with: a node or a number, given or asked for.
 */
#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_try_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include "guards.hpp"

using namespace klock;

TEST_CASE("irq_guard: a function that picks the node is asked with interrupts "
	  "off, once")
{
	static clh_lock lock;
	static clh_node node;
	watchful_choice<clh_node> pick{node};
	{
		irq_guard held(lock, pick);
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(pick.enabled);
	CHECK(pick.asked == 1);
	CHECK_FALSE(lock.is_locked());
	CHECK(irqs_enabled());
}

TEST_CASE("irq_guard: a function that picks the number is asked with "
	  "interrupts off, once")
{
	bakery_lock<4> lock;
	unsigned number = 2;
	watchful_choice<unsigned> pick{number};
	{
		irq_guard held(lock, pick);
		CHECK(lock.is_queued(2));
	}
	CHECK_FALSE(pick.enabled);
	CHECK(pick.asked == 1);
	CHECK_FALSE(lock.is_queued(2));
}

static clh_node nodes[4];
static clh_node &my_node() { return nodes[cpu_id()]; }
static int my_number() { return static_cast<int>(cpu_id()); }

TEST_CASE("guard: takes a function by its name, a lambda, and any integer")
{
	static clh_lock clh;
	bakery_lock<4> bakery;

	current_cpu = 3;
	for (int i = 0; i < 3; i++) {
		{
			irq_guard held(clh, my_node);
			CHECK(clh.is_locked());
		}
		guard held(clh, []() -> clh_node & { return nodes[1]; });
		CHECK(clh.is_locked());
	}
	CHECK_FALSE(clh.is_locked());
	{
		guard held(bakery, my_number);
		CHECK(bakery.is_queued(3));
	}
	{
		irq_guard held(bakery, cpu_id);
		CHECK(bakery.is_queued(3));
	}
	{
		guard held(bakery, u8{2});
		CHECK(bakery.is_queued(2));
	}
	{
		guard held(bakery, usize{1});
		CHECK(bakery.is_queued(1));
	}
	current_cpu = 0;
	CHECK_FALSE(bakery.is_locked());
}

/* Whether the lock's last node is the one given: then somebody waits not. */
static bool is_last(mcs_lock &lock, mcs_node &node)
{
	return lock.is_locked() && !lock.is_contended(node);
}

TEST_CASE("guard: an MCS lock takes its own node, or one that is lent")
{
	mcs_lock lock;
	mcs_node node;
	{
		guard held(lock);
		CHECK_FALSE(is_last(lock, node));
	}
	{
		guard held(lock, node);
		CHECK(is_last(lock, node));
	}
	{
		irq_guard held(lock, node);
		CHECK(is_last(lock, node));
	}
	watchful_choice<mcs_node> pick{node};
	{
		irq_guard held(lock, pick);
		CHECK(is_last(lock, node));
	}
	CHECK_FALSE(pick.enabled);
	{
		irq_try_guard held(lock, node);
		CHECK(is_last(lock, node));
	}
	CHECK_FALSE(lock.is_locked());
}

/* What embeds a lock is not made larger by what others bring along. */
TEST_CASE("guard: sizes")
{
	using pointer = void *;
	struct numbered {
		pointer lock;
		unsigned number;
	};
	struct owning {
		pointer lock;
		mcs_node node;
	};
	struct off {
		irq_state before;
		pointer lock;
	};

	STATIC_REQUIRE(sizeof(guard<ticket_lock<u8>>) == sizeof(pointer));
	STATIC_REQUIRE(sizeof(guard<bakery_lock<4>>) == sizeof(numbered));
	STATIC_REQUIRE(sizeof(guard<clh_lock>) == 2 * sizeof(pointer));
	STATIC_REQUIRE(sizeof(guard<mcs_lock>) == sizeof(owning));
	STATIC_REQUIRE(sizeof(guard<lent_node<mcs_lock>>) ==
		       2 * sizeof(pointer));
	STATIC_REQUIRE(sizeof(irq_guard<ticket_lock<u8>>) == sizeof(off));
	STATIC_REQUIRE(sizeof(irq_try_guard<ticket_lock<u8>>) == sizeof(off));
}
