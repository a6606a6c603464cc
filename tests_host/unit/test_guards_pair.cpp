/* SPDX-License-Identifier: MIT */
/*
 * pair_guard and irq_pair_guard: two locks by address.
 */
#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_pair_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/pair_guard.hpp>
#include <klock/ticket_lock.hpp>

#include <catch.hpp>

#include "guards.hpp"

#include <thread>

using namespace klock;

namespace {

/* Writes its letter to a text that several locks share. */
struct lettered_lock {
	void lock() { *text += letter; }
	void unlock() { *text += static_cast<char>(letter + 'a' - 'A'); }

	char letter;
	std::string *text;
};

} // namespace

TEST_CASE("pair_guard: takes the lock at the lower address first, whatever "
	  "the order in which they are named")
{
	std::string text;
	lettered_lock two[] = {{'A', &text}, {'B', &text}};
	{
		pair_guard held(two[0], two[1]);
		CHECK(text == "AB");
	}
	CHECK(text.size() == 4);
	text.clear();
	{
		pair_guard held(two[1], two[0]);
		CHECK(text == "AB");
		held.unlock();
		CHECK(text.size() == 4);
	}
	CHECK(text.size() == 4);
	text.clear();
	{
		irq_pair_guard held(two[1], two[0]);
		CHECK(text == "AB");
	}
	CHECK(text.size() == 4);
}

TEST_CASE("pair_guard: the same lock twice is taken once")
{
	watchful_lock lock;
	{
		pair_guard held(lock, lock);
		CHECK(lock.seen == "L");
	}
	CHECK(lock.seen == "LU");
	{
		irq_pair_guard held(lock, lock);
	}
	CHECK(lock.seen == "LUlu");
}

static clh_node node;

TEST_CASE("pair_guard: takes any two kinds, each with what it needs")
{
	ticket_lock<u8> ticket;
	mcs_lock mcs;
	static clh_lock clh;
	bakery_lock<4> bakery;
	mcs_node lent;

	current_cpu = 3;
	{
		pair_guard a(ticket, mcs);
		pair_guard b(with(clh, node), bakery);
		CHECK(ticket.is_locked());
		CHECK(mcs.is_locked());
		CHECK(clh.is_locked());
		CHECK(bakery.is_queued(3));
	}
	CHECK_FALSE(ticket.is_locked());
	CHECK_FALSE(mcs.is_locked());
	CHECK_FALSE(clh.is_locked());
	CHECK_FALSE(bakery.is_locked());
	{
		pair_guard a(with(mcs, lent), with(bakery, 1u));
		CHECK(mcs.is_locked());
		CHECK_FALSE(mcs.is_contended(lent));
		CHECK(bakery.is_queued(1));
	}
	CHECK_FALSE(mcs.is_locked());
	CHECK_FALSE(bakery.is_locked());
	current_cpu = 0;
}

TEST_CASE("irq_pair_guard: interrupts are off before the first lock is touched "
	  "and a node is picked, and back after the last")
{
	watchful_lock lock;
	static clh_lock clh;
	watchful_choice<clh_node> pick{node};
	{
		irq_pair_guard held(lock, with(clh, pick));
		CHECK_FALSE(irqs_enabled());
	}
	CHECK(lock.seen == "lu");
	CHECK_FALSE(pick.enabled);
	CHECK(pick.asked == 1);
	CHECK(irqs_enabled());
}

TEST_CASE("irq_pair_guard: unlock() restores interrupts, and only once")
{
	ticket_lock<u8> a, b;
	irq_state before;
	{
		irq_pair_guard held(a, b);
		held.unlock();
		CHECK(irqs_enabled());
		CHECK_FALSE(a.is_locked());
		CHECK_FALSE(b.is_locked());
		held.unlock();
		CHECK(irqs_enabled());
		before = irq_save();
	}
	CHECK_FALSE(irqs_enabled());
	irq_restore(before);
}

TEST_CASE("pair_guard: two threads that name two locks in opposite order do "
	  "not deadlock, and exclude each other")
{
	static constexpr int rounds = 20000;
	ticket_lock<u8> a;
	mcs_lock b;
	int count = 0;
	std::thread other([&] {
		for (int i = 0; i < rounds; i++) {
			pair_guard held(b, a);
			count++;
		}
	});

	for (int i = 0; i < rounds; i++) {
		pair_guard held(a, b);
		count++;
	}
	other.join();
	CHECK(count == 2 * rounds);
}
