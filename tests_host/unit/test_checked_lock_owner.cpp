/* SPDX-License-Identifier: MIT */
/*
 * checked_lock in a kernel that preempts and moves threads while they hold
 * locks: klock_os_owner_id() says which thread asks.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/ticket_lock.hpp>

#include "pretended_kernel.hpp"

using namespace klock;

static thread_local unsigned long current_thread = 0;

extern "C" unsigned long klock_os_owner_id(void) { return current_thread; }

using byte_lock = checked_lock<ticket_lock<u8>, "inode">;

/* Runs code as this thread on this CPU. */
template <typename Code>
static void as_thread(unsigned long thread, unsigned cpu, Code code)
{
	const unsigned long before = current_thread;
	running here(cpu, context::thread);

	current_thread = thread;
	code();
	current_thread = before;
}

TEST_CASE("checked_lock: a thread may wait on the CPU of a preempted holder")
{
	byte_lock lock;
	bool taken = true;

	as_thread(0x1000, 0, [&] { lock.lock(); });
	/* It would wait for its turn, and not for itself. */
	CHECK(panic_of([&] {
		      as_thread(0x2000, 0, [&] { taken = lock.try_lock(); });
	      }) == "");
	CHECK_FALSE(taken);
	as_thread(0x2000, 0, [&] { CHECK_FALSE(lock.is_held_by_me()); });
	as_thread(0x1000, 0, [&] { lock.unlock(); });
}

TEST_CASE("checked_lock: a thread may release on another CPU")
{
	byte_lock lock;

	CHECK(panic_of([&] {
		      as_thread(0x1000, 0, [&] { lock.lock(); });
		      as_thread(0x1000, 3, [&] {
			      assert_held(lock);
			      lock.unlock();
		      });
	      }) == "");
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("checked_lock: recursion and stray unlocks of threads are named")
{
	byte_lock lock;
	std::string said;

	as_thread(0x1000, 1, [&] { lock.lock(); });
	as_thread(0x1000, 2, [&] { said = panic_of([&] { lock.lock(); }); });
	has(said, "inode, CPU 2: recursion");
	has(said, "; held by CPU 1 (owner 0x1000), taken at ");
	as_thread(0x2000, 1, [&] { said = panic_of([&] { lock.unlock(); }); });
	has(said, "inode, CPU 1: unlock by another than its holder");
	as_thread(0x1000, 1, [&] { lock.unlock(); });
}

TEST_CASE("checked_lock: a handler is who it interrupted")
{
	byte_lock lock;
	std::string said;

	as_thread(0x1000, 0, [&] {
		irqs off(false);
		lock.lock();
		/* This kernel cannot tell handlers from threads. */
		said = panic_of([&] { lock.lock(); });
	});
	has(said, "recursion: the caller holds it");
}
