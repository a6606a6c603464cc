/* SPDX-License-Identifier: MIT */
/*
 * sleep: a kernel without klock_os_owner_id(): the owner of a spin lock is the
 * CPU, that of a lock whose waiters sleep is the thread
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/order_calls.hpp>
#include <klock/print_held.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/ticket_lock.hpp>

#include "order_kernel.hpp"
#include "pretended_kernel.hpp"

using namespace klock;

/* klock_os_thread() of test_sleep_checks.cpp returns it. */
extern usize thread_now;

namespace {

struct owned_locks {
	checked_lock<mutex, "inode"> inode;
	checked_lock<mutex, "log"> log;
	checked_lock<shared_mutex, "names"> names;
	checked_lock<ticket_lock<u8>, "scheduler"> scheduler;
	checked_lock<ticket_lock<u8>, "data"> data;
};

/* The owner that this thread names on this CPU. */
template <typename Code>
std::string said_by(usize thread, unsigned cpu, Code code)
{
	const usize before = thread_now;
	std::string said;

	thread_now = thread;
	as(cpu, context::thread, [&] { said = panic_of(code); });
	thread_now = before;
	return said;
}

} // namespace

TEST_CASE(
	"owners: a thread moves with a mutex, a CPU switches with a spin lock")
{
	new_order<64, 8> fresh;
	owned_locks of;

	/* Threads have the numbers of CPUs. */
	CHECK(said_by(1, 0, [&] {
		      of.inode.lock();
		      of.names.lock_shared();
	      }) == "");
	CHECK(said_by(2, 0, [&] {
		      if (of.inode.try_lock())
			      throw std::runtime_error("two have it");
		      of.scheduler.lock();
	      }) == "");
	CHECK(said_by(3, 0, [&] { of.scheduler.unlock(); }) == "");
	CHECK(said_by(1, 1, [&] {
		      assert_held(of.inode);
		      of.log.lock();
		      of.log.unlock();
		      of.inode.unlock();
		      of.names.unlock_shared();
	      }) == "");
	for (const held_locks &one : fresh.memory->held)
		CHECK(one.size() == 0);
}

TEST_CASE("owners: a thread of the number 0")
{
	new_order<64, 8> fresh;
	owned_locks of;

	CHECK(said_by(0, 0, [&] { of.inode.lock(), of.inode.unlock(); }) == "");
	CHECK(said_by(0, 0, [&] { of.names.lock(), of.names.unlock(); }) == "");
	(void)said_by(0, 0, [&] { of.inode.lock(); });
	has(said_by(1, 0, [&] { of.inode.unlock(); }), "(owner 0x0)");
}

TEST_CASE("owners: misuse by another thread, and by another CPU")
{
	new_order<64, 8> fresh;
	owned_locks of;

	(void)said_by(1, 0, [&] { of.inode.lock(), of.names.lock_shared(); });
	has(said_by(2, 0, [&] { of.inode.unlock(); }),
	    "inode, CPU 0: unlock() by a caller that does not hold it");
	has(said_by(2, 0, [&] { of.inode.unlock(); }),
	    "held by CPU 0 (owner 0x1), taken at ");
	has(said_by(2, 0, [&] { of.names.unlock_shared(); }),
	    "unlock_shared() by a caller that does not hold it for reading");
	has(said_by(1, 3, [&] { of.inode.lock(); }),
	    "inode, CPU 3: recursion: the caller already holds it");
	has(said_by(1, 3, [&] { of.names.lock(); }), "upgrade: the caller");
	has(said_by(1, 3, [&] { thread_ends(); }), "a thread ends with it");
	CHECK(said_by(2, 0, [&] { thread_ends(); }) == "");

	(void)said_by(2, 0, [&] { of.data.lock(); });
	has(said_by(2, 1, [&] { of.data.unlock(); }),
	    "data, CPU 1: unlock() by a caller that does not hold it");
	has(said_by(3, 0, [&] { of.log.lock(); }),
	    "log, CPU 0: may sleep, but the caller holds a spinlock");
	CHECK(said_by(3, 1, [&] { of.log.lock(); }) == "");
}

TEST_CASE("owners: a thread's order, wherever it runs")
{
	new_order<64, 8> fresh;
	owned_locks of;

	(void)said_by(1, 0, [&] { of.inode.lock(); });
	CHECK(said_by(1, 2, [&] { of.log.lock(); }) == "");
	CHECK(said_by(1, 3, [&] { of.log.unlock(), of.inode.unlock(); }) == "");
	(void)said_by(2, 0, [&] { of.log.lock(); });
	has(said_by(2, 1, [&] { of.inode.lock(); }),
	    "inode, CPU 1: lock order: log (");
}

TEST_CASE("owners: two mutexes of a name, by address and by sub-rank")
{
	checked_lock<mutex, "inode"> inodes[2];
	const auto both = [&](auto take) {
		new_order<64, 8> fresh;

		return said_by(1, 0, [&] { take(); });
	};

	CHECK(both([&] { pair_guard held(inodes[1], inodes[0]); }) == "");
	CHECK(both([&] {
		      guard parent(inodes[1]);
		      nested one_down(inodes[0], 1);
		      guard child(inodes[0]);
	      }) == "");
	has(both([&] {
		    guard parent(inodes[1]);
		    guard child(inodes[0]);
	    }),
	    "same class: ");
}

TEST_CASE("owners: pairs of two names, each by address")
{
	new_order<64, 8> fresh;
	struct {
		checked_lock<mutex, "inode"> inode;
		checked_lock<mutex, "log"> log;
	} one;
	struct {
		checked_lock<mutex, "log"> log;
		checked_lock<mutex, "inode"> inode;
	} other;

	CHECK(said_by(1, 0, [&] { pair_guard held(one.inode, one.log); }) ==
	      "");
	CHECK(said_by(1, 2, [&] { pair_guard held(other.inode, other.log); }) ==
	      "");
}

TEST_CASE("owners: a lock goes from owner to owner")
{
	new_order<64, 8> fresh;
	owned_locks of;
	irq_lock<checked_lock<ticket_lock<u8>, "queue">> queue;

	has(said_by(1, 0, [&] { handed_over(queue); }),
	    "queue, CPU 0: handed_over() of a lock that nobody holds; at ");

	(void)said_by(1, 0, [&] { of.inode.lock(); });
	CHECK(said_by(2, 3, [&] { handed_over(of.inode); }) == "");
	CHECK(said_by(1, 0, [&] { thread_ends(); }) == "");
	CHECK(said_by(2, 2, [&] { of.inode.unlock(); }) == "");
	for (const held_locks &one : fresh.memory->held)
		CHECK(one.size() == 0);
}

TEST_CASE("owners: more threads hold mutexes than there are places")
{
	new_order<64, 2> fresh;
	owned_locks of;

	(void)said_by(1, 0, [&] { of.inode.lock(); });
	(void)said_by(2, 0, [&] { of.log.lock(); });
	CHECK(said_by(3, 1, [&] { of.data.lock(); }) == "");
	REQUIRE(notes.size() == 1);
	has(notes[0], "too many owners (CPUs or threads)");
	CHECK(said_by(3, 1, [&] { of.data.unlock(); }) == "");
	CHECK(said_by(1, 1, [&] { of.inode.unlock(); }) == "");
	CHECK(said_by(2, 1, [&] { of.log.unlock(); }) == "");
	CHECK(said_by(3, 1, [&] { of.data.lock(); }) == "");
	CHECK(kernel_order_keeper()->mine() == nullptr);
}

TEST_CASE("owners: print_held shows the thread")
{
	new_order<64, 8> fresh;
	owned_locks of;
	std::vector<std::string> lines;

	(void)said_by(0x70, 2, [&] { of.inode.lock(); });
	(void)said_by(0x70, 3, [&] { of.data.lock(); });
	print_held([&](const char *line) { lines.push_back(line); });
	REQUIRE(lines.size() == 2);
	has(lines[0], "CPU 3 holds data (");
	has(lines[1], "CPU 2 (owner 0x70) holds inode (");
}
