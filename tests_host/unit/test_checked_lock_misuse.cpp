/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: numbers and nodes. What is released must be what was taken, and
 * a node serves one acquisition at a time.
 */
#include <klock/anderson_lock.hpp>
#include <klock/bakery_lock.hpp>
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/guard.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/narrow_ticket_lock.hpp>
#include <klock/rescue_guard.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/try_lock_until.hpp>

#include "pretended_kernel.hpp"

#include <thread>

using namespace klock;

/* "this file:line", as a panic prints it */
static std::string line(int number)
{
	return misuse_text().add(call_site{__FILE__, number}).c_str();
}

TEST_CASE("checked_lock: a CPU number beyond capacity is named")
{
	struct {
		checked_lock<bakery_lock<4>, "bakery"> lock;
		u32 neighbours[4] = {7, 7, 7, 7};
	} w;

	has(panic_of([&] { w.lock.lock(4); }), "a CPU number beyond capacity");
	w.lock.lock(3);
	has(panic_of([&] { w.lock.unlock(6); }),
	    "a CPU number beyond capacity; at " + line(__LINE__ - 1));
	for (u32 neighbour : w.neighbours)
		CHECK(neighbour == 7);
	w.lock.unlock(3);
}

namespace {

/* As a lock of one's own: indexed, can be tried, has no deadline. */
struct tried_by_number {
	static constexpr u64 max_contenders = 2;
	unsigned holder = 2;

	void lock(unsigned cpu) { holder = cpu; }
	[[nodiscard]] bool try_lock(unsigned cpu)
	{
		if (holder != 2)
			return false;
		holder = cpu;
		return true;
	}
	void unlock(unsigned) { holder = 2; }
};

} // namespace

TEST_CASE("checked_lock: the same number by try_lock()")
{
	checked_lock<tried_by_number, "tried"> lock;

	has(panic_of([&] { (void)lock.try_lock(2); }),
	    "a CPU number beyond capacity; at " + line(__LINE__ - 1));
	CHECK(lock.try_lock(1));
	CHECK_FALSE(lock.try_lock(0));
	lock.unlock(1);
}

TEST_CASE("checked_lock: unlock() by another number than lock()'s is named")
{
	checked_lock<bakery_lock<4>, "bakery"> lock;
	const int taken = __LINE__ + 1;
	lock.lock(1);
	const std::string said = panic_of([&] { lock.unlock(2); });

	has(said, "bakery, CPU 0: unlock with another number or node");
	has(said, "at " + line(__LINE__ - 3));
	has(said, "taken at " + line(taken));
	lock.unlock(1);
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: unlock() by another node than lock()'s is named")
{
	checked_lock<mcs_lock, "queue"> lock;
	mcs_node a, b;
	const int taken = __LINE__ + 1;
	lock.lock(a);

	const std::string said = panic_of([&] { lock.unlock(b); });
	has(said, "queue, CPU 0: unlock with another number or node");
	has(said, "taken at " + line(taken));
	lock.unlock(a);
	CHECK(lock.try_lock(b));
	has(panic_of([&] { lock.unlock(a); }), "another number or node");
	lock.unlock(b);
}

TEST_CASE("checked_lock: one node in two locks at once is named")
{
	checked_lock<mcs_lock, "outer"> outer;
	checked_lock<mcs_lock, "inner"> inner;
	mcs_node node;

	outer.lock(node);
	has(panic_of([&] { inner.lock(node); }),
	    "inner, CPU 0: a node that is in use already; at " +
		    line(__LINE__ - 2));
	has(panic_of([&] { (void)inner.try_lock(node); }), "in use already");
	outer.unlock(node);
	CHECK(inner.is_locked() == false);
	outer.lock(node);
	outer.unlock(node);
}

TEST_CASE("checked_lock: one node of two contenders is named")
{
	checked_lock<mcs_lock, "queue"> lock;
	mcs_node node, of_waiter;
	atomic<u8> waits;

	lock.lock(node);
	has(panic_of([&] { as(1, context::thread, [&] { lock.lock(node); }); }),
	    "queue, CPU 1: a node that is in use already");

	/* A waiter's, with the lock held and other waiters behind it. */
	std::thread waiter([&] {
		running here(2, context::thread);
		waits.store_release(1);
		lock.lock(of_waiter);
		lock.unlock(of_waiter);
	});
	waits.await_eq_acquire(1);
	std::string said;
	while (said.empty())
		said = panic_of([&] {
			running here(3, context::thread);
			if (lock.is_contended(node))
				lock.lock(of_waiter);
		});
	has(said, "queue, CPU 3: a node that is in use already");
	lock.unlock(node);
	waiter.join();
}

TEST_CASE("checked_lock: a node that was given back serves again")
{
	checked_lock<clh_lock, "first"> first;
	checked_lock<mcs_lock, "second"> second;
	static clh_node clh[600];
	mcs_node mcs, other;

	CHECK(panic_of([&] {
		      for (clh_node &node : clh)
			      for (int i = 0; i < 2; i++)
				      guard held(first, node);
		      for (int i = 0; i < 600; i++) {
			      second.lock(mcs);
			      CHECK_FALSE(second.try_lock(other));
			      second.unlock(mcs);
			      CHECK(second.try_lock(other));
			      second.unlock(other);
		      }
	      }) == "");
}

TEST_CASE("checked_lock: a try_lock() in vain is a contender no more")
{
	checked_lock<narrow_ticket_lock<2>, "tiny"> lock;

	CHECK(panic_of([&] {
		      lock.lock();
		      for (int i = 0; i < 20; i++)
			      CHECK_FALSE(lock.try_lock());
		      lock.unlock();
		      for (int i = 0; i < 20; i++) {
			      CHECK(lock.try_lock());
			      CHECK_FALSE(lock.try_lock());
			      lock.unlock();
		      }
	      }) == "");
}

namespace {

/* No lock at all. */
struct open_door {
	static constexpr u64 max_contenders = 8;

	void lock() {}
	void unlock() {}
};

} // namespace

TEST_CASE("checked_lock: a lock that lets two in is named")
{
	checked_lock<open_door, "door"> lock;

	lock.lock();
	has(panic_of([&] { as(1, context::thread, [&] { lock.lock(); }); }),
	    "door, CPU 1: two holders");
}

TEST_CASE("checked_lock: assert_held() names who does not hold it")
{
	checked_if<true, ticket_lock<u8>, "list"> lock;
	checked_if<false, ticket_lock<u8>> unchecked;

	has(panic_of([&] { assert_held(lock); }),
	    "list, CPU 0: not held by the caller; at " + line(__LINE__ - 1));
	CHECK_FALSE(lock.is_held_by_me());
	const int taken = __LINE__ + 1;
	guard held(lock);
	assert_held(lock);
	CHECK(lock.is_held_by_me());
	const std::string said = panic_of(
		[&] { as(1, context::thread, [&] { assert_held(lock); }); });
	has(said, "list, CPU 1: not held by the caller; at ");
	has(said, "held by CPU 0, taken at " + line(taken));
	as(1, context::thread, [&] { CHECK_FALSE(lock.is_held_by_me()); });
	assert_held(unchecked);
}

/* -- Texts ------------------------------------------------------------------
 */

TEST_CASE("checked_lock: long paths leave room for both lines")
{
	checked_lock<ticket_lock<u8>, "deep"> lock;
	const std::string tail = "/one/two/three/four/file.cpp";
	const std::string taken = "/a" + std::string(200, 'x') + tail;
	const std::string wanted = "/b" + std::string(200, 'y') + tail;
	const std::string bare(250, 'z');

	lock.lock({taken.c_str(), 1111111111});
	std::string said = panic_of([&] {
		lock.lock({wanted.c_str(), 1222222222});
	});
	has(said, "at ..." + tail + ":1222222222; held by CPU 0");
	has(said, "taken at ..." + tail + ":1111111111");
	lock.unlock();

	said = panic_of([&] {
		as(4294967295, context::interrupt, [&] {
			lock.lock({bare.c_str(), 1222222222});
		});
	});
	has(said, "with interrupts on at ..." + tail + ":1111111111");
	has(said, "handler at ..." + std::string(57, 'z') + ":1222222222");
	has(said, "found at ..." + std::string(57, 'z') + ":1222222222");
}

TEST_CASE("checked_lock: short paths are printed whole")
{
	const std::string sixty = "/" + std::string(59, 's');

	CHECK(misuse_text().add(call_site{sixty.c_str(), 7}).c_str() ==
	      sixty + ":7");
	CHECK(misuse_text().add(call_site{(sixty + "s").c_str(), 7}).c_str() ==
	      "..." + std::string(57, 's') + ":7");
	CHECK(misuse_text().add_hex(0xbeef).c_str() == std::string("0xbeef"));
}

TEST_CASE("checked_lock: rescue_guard gives its own CPU's lock up at once")
{
	checked_lock<ticket_lock<u8>, "console"> lock;
	const irqs off(false);
	constexpr u32 minutes = ~u32{0};

	lock.lock();
	CHECK(panic_of([&] {
		      rescue_guard held(lock, minutes);
		      CHECK_FALSE(held);
	      }) == "");
	CHECK(lock.is_held_by_me());
	lock.unlock();
	CHECK(panic_of([&] {
		      rescue_guard held(lock);
		      CHECK(lock.is_held_by_me());
	      }) == "");
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: a wait with a deadline is a wait, and named as one")
{
	constexpr u64 passed = 0;
	checked_lock<timeout_lock<2>, "timed"> lock;

	has(panic_of([&] { (void)lock.try_lock_until(2, passed); }),
	    "a CPU number beyond capacity; at " + line(__LINE__ - 1));
	has(panic_of([&] { (void)lock.try_lock_for(2, 1); }),
	    "a CPU number beyond capacity");
	CHECK(lock.try_lock_until(0, passed));
	CHECK(lock.is_held_by_me());
	has(panic_of([&] { (void)lock.try_lock_for(0, 1); }),
	    "recursion: the caller holds it; at " + line(__LINE__ - 1));
	as(1, context::nmi, [&] {
		has(panic_of([&] { (void)lock.try_lock_until(1, passed); }),
		    "lock() in an NMI handler");
	});

	/* Who gave up is no contender: again and again, within the capacity. */
	as(1, context::thread, [&] {
		for (unsigned times = 0; times < 5; times++) {
			CHECK_FALSE(lock.try_lock_until(1, passed));
			CHECK_FALSE(lock.try_lock_for(1, 1));
			CHECK_FALSE(lock.is_held_by_me());
		}
	});
	lock.unlock(0);
	as(1, context::thread, [&] {
		REQUIRE(lock.try_lock_for(1, ~u64{0}));
		const guard held(lock, 1u, adopt);
		CHECK(lock.is_held_by_me());
	});
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: try_lock_until gives its own CPU's lock up at once")
{
	checked_lock<ticket_lock<u8>, "plain"> lock;

	CHECK(try_lock_until(lock, 0));
	/* No time is enough: it would not come back. */
	CHECK_FALSE(try_lock_until(lock, ~u64{0}));
	CHECK_FALSE(try_lock_for(lock, ~u64{0}));
	CHECK(lock.is_held_by_me());
	lock.unlock();
	CHECK(try_lock_for(lock, 0));
	lock.unlock();
}
