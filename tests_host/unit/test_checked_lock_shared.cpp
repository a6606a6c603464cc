/* SPDX-License-Identifier: MIT */
/*
 * checked_lock around a lock that readers share: what of them is named.
 */
#include <klock/checked_lock.hpp>
#include <klock/irq_shared_guard.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>

#include "pretended_kernel.hpp"

using namespace klock;

namespace {

using checked = checked_if<true, rw_ticket_lock<u8>, "table">;

} // namespace

TEST_CASE("checked_lock: shared: readers and writers by turns are right")
{
	checked lock;

	for (unsigned turn = 0; turn < 300; turn++) {
		current_cpu = turn % 4;
		lock.lock_shared();
		current_cpu = (turn + 1) % 4;
		CHECK(lock.try_lock_shared());
		lock.unlock_shared();
		current_cpu = turn % 4;
		lock.unlock_shared();
		lock.lock();
		CHECK(lock.is_held_by_me());
		CHECK_FALSE(lock.try_lock_shared());
		lock.unlock();
	}
	current_cpu = 0;
	{
		shared_guard one(lock);
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: shared: read recursion and upgrade are named")
{
	checked lock;

	lock.lock_shared();
	has(panic_of([&] { lock.lock_shared(); }),
	    "read recursion: the caller reads it");
	has(panic_of([&] { lock.lock(); }), "upgrade: the caller reads it");
	lock.unlock_shared();
	lock.lock();
	has(panic_of([&] { lock.lock_shared(); }),
	    "recursion: the caller holds it");
	lock.unlock();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: shared: an unlock_shared without a read is named")
{
	checked lock;

	has(panic_of([&] { lock.unlock_shared(); }),
	    "unlock_shared by who does not read it");
	current_cpu = 1;
	lock.lock_shared();
	current_cpu = 2;
	has(panic_of([&] { lock.unlock_shared(); }),
	    "unlock_shared by who does not read it");
	current_cpu = 1;
	lock.unlock_shared();
	current_cpu = 0;
}

TEST_CASE("checked_lock: shared: one reader more than the capacity")
{
	checked lock;

	static_assert(rw_ticket_lock<u8>::max_readers == 256);
	for (unsigned reader = 0; reader < 256; reader++) {
		current_cpu = reader;
		REQUIRE(lock.try_lock_shared());
	}
	current_cpu = 256;
	has(panic_of([&] { lock.lock_shared(); }),
	    "more contenders than its capacity");
	has(panic_of([&] { (void)lock.try_lock_shared(); }),
	    "more contenders than its capacity");
	/* Those for whom there was no room to be noted are counted. */
	for (unsigned reader = 0; reader < 256; reader++) {
		current_cpu = reader;
		lock.unlock_shared();
	}
	current_cpu = 0;
	CHECK_FALSE(lock.is_locked());
	has(panic_of([&] { lock.unlock_shared(); }),
	    "unlock_shared by who does not read it");
}

TEST_CASE("checked_lock: shared: readers and writers of one capacity")
{
	checked lock;

	/* What a writer leaves behind takes no reader's place. */
	lock.lock();
	lock.unlock();
	for (unsigned reader = 0; reader < 255; reader++) {
		current_cpu = reader;
		REQUIRE(lock.try_lock_shared());
	}
	current_cpu = 255;
	CHECK_FALSE(lock.try_lock());
	lock.lock_shared();
	current_cpu = 256;
	has(panic_of([&] { (void)lock.try_lock(); }),
	    "more contenders than its capacity");
	has(panic_of([&] { lock.lock(); }),
	    "more contenders than its capacity");
	for (unsigned reader = 0; reader < 256; reader++) {
		current_cpu = reader;
		lock.unlock_shared();
	}
	CHECK(lock.try_lock());
	lock.unlock();
	current_cpu = 0;
}

TEST_CASE("checked_lock: shared: readers of a capacity of their own")
{
	checked_lock<phase_fair_lock<u8>, "table"> lock;

	for (unsigned reader = 0; reader < 63; reader++) {
		current_cpu = reader;
		lock.lock_shared();
	}
	current_cpu = 63;
	CHECK_FALSE(lock.try_lock());
	has(panic_of([&] { lock.lock_shared(); }),
	    "more readers than its capacity");
	has(panic_of([&] { (void)lock.try_lock_shared(); }),
	    "more readers than its capacity");
	for (unsigned reader = 0; reader < 63; reader++) {
		current_cpu = reader;
		lock.unlock_shared();
	}
	current_cpu = 0;
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: shared: reads of one CPU nest, but in no NMI handler")
{
	checked_lock<reader_lock<4>, "names"> lock;

	lock.lock_shared(1);
	lock.lock_shared(1);
	CHECK(lock.try_lock_shared(1));
	has(panic_of([&] { lock.lock(); }), "upgrade: the caller reads it");
	lock.unlock_shared(1);
	lock.unlock_shared(1);
	lock.unlock_shared(1);
	has(panic_of([&] { lock.unlock_shared(1); }),
	    "unlock_shared by who does not read it");
	for (const auto misuse :
	     {+[](decltype(lock) &l) { l.lock_shared(4); },
	      +[](decltype(lock) &l) { (void)l.try_lock_shared(4); },
	      +[](decltype(lock) &l) { l.unlock_shared(4); }})
		has(panic_of([&] { misuse(lock); }),
		    "a CPU number beyond capacity");
	as(1, context::nmi, [&] {
		has(panic_of([&] { lock.lock_shared(1); }), "NMI handler");
		has(panic_of([&] { (void)lock.try_lock_shared(1); }),
		    "read in an NMI handler, where this lock is not read");
	});
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: shared: a handler that reads what threads read with "
	  "interrupts on")
{
	checked lock;

	lock.lock_shared();
	lock.unlock_shared();
	as(0, context::interrupt, [&] {
		has(panic_of([&] { lock.lock_shared(); }),
		    "held or waited for with interrupts on");
	});
	as(0, context::nmi,
	   [&] { has(panic_of([&] { lock.lock_shared(); }), "NMI handler"); });
}

TEST_CASE("checked_lock: shared: interrupts off on both sides is right")
{
	checked lock;

	{
		irq_shared_guard held(lock);
	}
	as(0, context::interrupt,
	   [&] { CHECK(panic_of([&] { shared_guard held(lock); }) == ""); });
}
