/* SPDX-License-Identifier: MIT */
/*
 * Guards that may not get the lock; of two locks; of readers.
 */
#include <klock/bakery_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/irq_pair_guard.hpp>
#include <klock/irq_shared_guard.hpp>
#include <klock/irq_try_guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/pair_guard.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/selftest/locks.hpp>
#include <klock/shared_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/try_guard.hpp>

#include "guards.hpp"

#include <catch.hpp>

#include <thread>
using namespace klock;

/*
 * try_guard and irq_try_guard.
 */
namespace guards_try_tests {

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

} // namespace guards_try_tests

/*
 * pair_guard and irq_pair_guard: two locks by address.
 */
namespace guards_pair_tests {

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

} // namespace guards_pair_tests

/*
 * rescue_guard: takes what it can have, waits so long and no longer, unlocks
 * what it took and nothing else.
 */
namespace rescue_guard_tests {

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

} // namespace rescue_guard_tests

/*
 * shared_guard, irq_shared_guard and their try forms, over every lock that
 * readers share.
 */
namespace shared_guard_tests {

using arch::irqs_enabled;

namespace {

template <typename L>
L fresh;

template <typename Test>
void for_each_shared_lock(Test test)
{
	selftest::all_shared_locks<4>::for_each([&]<typename Subject>() {
		INFO(Subject::name);
		test.template operator()<typename Subject::lock>();
	});
}

/* Whether a writer could come now: nobody reads. */
template <typename L>
bool writable(L &lock)
{
	if constexpr (try_lockable<L>) {
		if (!lock.try_lock())
			return false;
		lock.unlock();
		return true;
	}
	return !lock.is_locked();
}

} // namespace

TEST_CASE("shared_guard: several hold the lock at once, for their blocks")
{
	for_each_shared_lock([]<typename L>() {
		L &lock = fresh<L>;

		for (int i = 0; i < 3; i++) {
			{
				shared_guard one(lock);
				CHECK_FALSE(writable(lock));
			}
			CHECK(writable(lock));
		}
		{
			guard writer(lock);
			if constexpr (try_shared_lockable<L>) {
				shared_try_guard reader{lock};
				CHECK_FALSE(reader);
			}
		}
		CHECK(writable(lock));
	});
}

TEST_CASE("shared_guard: released early, once; a try says whether it holds")
{
	for_each_shared_lock([]<typename L>() {
		L &lock = fresh<L>;

		shared_guard held(lock);
		held.unlock();
		CHECK(writable(lock));
		held.unlock();
		CHECK(writable(lock));
		if constexpr (try_shared_lockable<L>) {
			shared_try_guard tried{lock};
			CHECK(tried);
			shared_try_guard again{lock};
			CHECK(again);
			CHECK_FALSE(writable(lock));
			tried.unlock();
			CHECK_FALSE(tried);
			again.unlock();
			CHECK(writable(lock));
		}
	});
}

TEST_CASE("irq_shared_guard: interrupts are off inside, then as they were")
{
	for_each_shared_lock([]<typename L>() {
		L &lock = fresh<L>;

		REQUIRE(irqs_enabled());
		{
			irq_shared_guard outer(lock);
			CHECK_FALSE(irqs_enabled());
			CHECK_FALSE(writable(lock));
			outer.unlock();
			CHECK(irqs_enabled());
			CHECK(writable(lock));
		}
		CHECK(irqs_enabled());
		{
			irq_guard writer(lock);
			CHECK_FALSE(irqs_enabled());
		}
		{
			guard writer(lock);
			if constexpr (try_shared_lockable<L>) {
				irq_shared_try_guard reader{lock};
				CHECK_FALSE(reader);
				CHECK(irqs_enabled());
			}
		}
		if constexpr (try_shared_lockable<L>) {
			irq_shared_try_guard reader{lock};
			CHECK(reader);
			CHECK_FALSE(irqs_enabled());
			reader.unlock();
			CHECK(irqs_enabled());
		}
		CHECK(irqs_enabled());
		CHECK(writable(lock));
	});
}

TEST_CASE("shared_guard: sizes are those of a guard")
{
	using lock = rw_ticket_lock<u8>;

	static_assert(sizeof(shared_guard<lock>) == sizeof(void *));
	static_assert(sizeof(shared_try_guard<lock>) == sizeof(void *));
	static_assert(!shared_lockable<ticket_lock<u8>>);
	static_assert(shared_lockable<lock> && plain_lock<lock>);
	SUCCEED();
}

} // namespace shared_guard_tests
