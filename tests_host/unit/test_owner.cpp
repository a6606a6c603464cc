/* SPDX-License-Identifier: MIT */
/*
 * A kernel that preempts its threads, whose locks are held by threads:
 * klock_os_owner_id() says which. Compiled with lib/preempted in front.
 */
#include <klock/bakery_lock.hpp>
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/counted_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/irq_lock.hpp>
#include <klock/leveled.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/mutex.hpp>
#include <klock/once.hpp>
#include <klock/order_calls.hpp>
#include <klock/phase_fair_lock.hpp>
#include <klock/preemptable_ticket_lock.hpp>
#include <klock/queued_lock.hpp>
#include <klock/reader_lock.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/shared_mutex.hpp>
#include <klock/tas_lock.hpp>
#include <klock/ticket_lock.hpp>
#include <klock/timeout_lock.hpp>
#include <klock/too_long.hpp>

#include "pretended_kernel.hpp"
#include "order_kernel.hpp"

#include <chrono>
#include <thread>

using namespace klock;

unsigned long klock_os_owner_id(void) { return current_thread; }

/* Its scheduler is called where preemption is on again, and switches. */
static int preemption_off = 0;
void klock_os_preempt_off() { preemption_off++; }
void klock_os_preempt_on()
{
	if (--preemption_off == 0)
		might_switch();
}

/*
 * checked_lock in a kernel that preempts and moves threads while they hold
 * locks: klock_os_owner_id() says which thread asks.
 */
namespace checked_owner_tests {

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
	has(said, "inode, CPU 1: unlock() by a caller that does not hold it");
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
	has(said, "recursion: the caller already holds it");
}

/* The waiter's look is the end of the first's run; it is by another thread. */
TEST_CASE("once: a thread may wait for another of its CPU")
{
	/* Numbers, and addresses that differ in their upper half alone. */
	static constexpr unsigned long pairs[][2] = {
		{1, 2},
		{0x1000, 0x1000 + (1ul << (sizeof(long) * 4))},
		{~0ul - 1, ~0ul - 2}};

	for (const auto &two : pairs) {
		once tables;
		std::string said;
		std::atomic<bool> runs{false}, ends{false};
		std::thread first([&] {
			as_thread(two[0], 1, [&] {
				tables.call([&] {
					runs = true;
					while (!ends)
						std::this_thread::yield();
				});
			});
		});

		while (!runs)
			std::this_thread::yield();
		std::thread ender([&] {
			std::this_thread::sleep_for(
				std::chrono::milliseconds(20));
			ends = true;
		});
		as_thread(two[1], 1, [&] {
			said = panic_of([&] { tables.call([] {}); });
			ends = true;
		});
		ender.join();
		first.join();
		CHECK(said == "");
		CHECK(tables.is_done());
	}
}

TEST_CASE("once: a function that calls itself, by a thread that has moved")
{
	once tables;

	as_thread(0x1000, 1, [&] {
		tables.call([&] {
			current_cpu = 2;
			has(panic_of([&] { tables.call([] {}); }),
			    "once, CPU 2: called again by the thread that runs "
			    "it");
		});
	});
	CHECK(tables.is_done());
}

} // namespace checked_owner_tests

/*
 * lock_order where threads hold locks: each has its own, whatever CPU it is on,
 * and places are shared by as many as hold locks at once.
 */
namespace lock_order_owner_tests {

namespace {

using byte_lock = ticket_lock<u8>;

template <typename Code>
void on_thread(unsigned long thread, Code code)
{
	const unsigned long before = current_thread;

	current_thread = thread;
	on_cpu(static_cast<unsigned>(thread % 2), code);
	current_thread = before;
}

struct three_locks {
	checked_lock<byte_lock, "a"> a;
	checked_lock<byte_lock, "b"> b;
	checked_lock<byte_lock, "c"> c;
};

} // namespace

TEST_CASE("lock_order: what another thread of this CPU holds is not held")
{
	new_order<64, 4> fresh;
	three_locks of;

	on_thread(1002, [&] { of.a.lock(); });
	on_thread(1004, [&] {
		of.b.lock();
		of.b.unlock();
	});
	on_thread(1002, [&] { of.a.unlock(); });
	on_thread(1006, [&] {
		of.b.lock();
		CHECK(panic_of([&] { of.a.lock(); }) == "");
	});
}

TEST_CASE("lock_order: a thread holds what it holds on any CPU")
{
	new_order<64, 4> fresh;
	three_locks of;

	current_thread = 77;
	on_cpu(0, [&] { of.a.lock(); });
	on_cpu(1, [&] { of.b.lock(); });
	on_cpu(2, [&] { of.a.unlock(); });
	on_cpu(3, [&] { of.b.unlock(); });
	CHECK(fresh.order.mine() == nullptr);
	has(taking(0, of.b, of.a), "known: a (");
}

TEST_CASE("lock_order: as many threads as there are places, one after another")
{
	new_order<64, 2> fresh;
	three_locks of;

	for (unsigned long thread = 0; thread < 100; thread++)
		on_thread(thread, [&] {
			of.a.lock();
			of.b.lock();
			of.b.unlock();
			of.a.unlock();
		});
	CHECK(notes.empty());
	on_thread(1, [&] { of.a.lock(); });
	on_thread(2, [&] { of.b.lock(); });
	on_thread(3, [&] { of.c.lock(); });
	CHECK(notes.size() == 1);
	on_thread(3, [&] { of.c.unlock(); });
	on_thread(2, [&] { of.b.unlock(); });
	on_thread(1, [&] { of.a.unlock(); });
	for (const held_locks &one : fresh.memory->held)
		CHECK(one.size() == 0);
}

TEST_CASE("preempt: a lock that is held where a guard lets others run")
{
	new_order<64, 4> fresh;
	three_locks of;

	on_thread(1002, [&] {
		guard b(of.b);
		guard a(of.a);
		CHECK(panic_of([&] { b.unlock(); }) == ""); /* a's is off yet */
		CHECK(panic_of([&] { a.unlock(); }) == "");
	});
	on_thread(1002, [&] {
		of.a.lock();
		guard c(of.c);
		has(panic_of([&] { c.unlock(); }),
		    "a, CPU 0: might_switch() with a spinlock held; at ");
		of.a.unlock();
	});
	CHECK(preemption_off == 0);
}

TEST_CASE("preempt: a guard that ends in another thread is named")
{
	new_order<64, 4> fresh;
	three_locks of;

	on_thread(1002, [&] {
		guard held(of.a);
		on_thread(1004, [&] {
			has(panic_of([&] { held.unlock(); }),
			    "a, CPU 0: unlock() by a caller that does not hold "
			    "it");
		});
		of.a.unlock();
	});
}

/*
 * The handler is the last who uses the place: it must not give it back to
 * another thread while the thread that it interrupted is about to.
 */
TEST_CASE("lock_order: a scheduler's lock goes from thread to thread")
{
	new_order<64, 4> fresh;
	checked_lock<ticket_lock<u8>, "scheduler"> scheduler;
	irq_lock<checked_lock<ticket_lock<u8>, "other">> other;
	leveled<irq_lock<checked_lock<ticket_lock<u8>>>, 3> leveled_too;
	checked_lock<ticket_lock<u8>, "log"> log;
	checked_lock<phase_fair_lock<u8>, "table"> table;
	std::string said;
	const auto holds = [](unsigned long thread) {
		u32 held = 0;

		current_thread = thread;
		held = kernel_order_keeper()->places();
		current_thread = 0;
		return held != 0;
	};

	on_thread(1, [&] { scheduler.lock(); });
	on_thread(2, [&] { said = panic_of([&] { scheduler.unlock(); }); });
	has(said,
	    "scheduler, CPU 0: unlock() by a caller that does not hold it");
	on_thread(2, [&] {
		log.lock();
		handed_over(scheduler);
		assert_held(scheduler);
	});
	CHECK_FALSE(holds(1));
	on_thread(2, [&] { said = panic_of([&] { might_switch(); }); });
	has(said, "scheduler, CPU 0: might_switch() with a spinlock held");
	has(said, "; taken at " + shown(__FILE__));
	on_thread(2, [&] {
		scheduler.unlock();
		log.unlock();
		said = panic_of([&] { handed_over(scheduler); });
	});
	has(said,
	    "scheduler, CPU 0: handed_over() of a lock that nobody holds; at ");
	CHECK_FALSE(holds(2));
	has(panic_of([&] { handed_over(other); }),
	    "handed_over() of a lock that nobody");
	has(panic_of([&] { handed_over(leveled_too); }),
	    "handed_over() of a lock that nobody");
	on_thread(1, [&] {
		table.lock_shared();
		said = panic_of([&] { handed_over(table); });
		table.unlock_shared();
	});
	has(said, "table, CPU 1: handed_over() of a lock that is held for "
		  "reading: its reader releases it; at ");
	/* The class that it was taken with is kept, for the order. */
	on_thread(1, [&] {
		log.lock();
		scheduler.lock();
		scheduler.unlock();
		log.unlock();
		scheduler.lock();
	});
	on_thread(2, [&] {
		handed_over(scheduler);
		said = panic_of([&] { log.lock(); });
	});
	has(said, "log, CPU 0: lock order: scheduler (");
}

/* Thread 1 takes it by this guard, thread 2 has it from there and releases. */
template <template <typename...> typename Guard, typename L, typename... With>
static void hand_over(L &lock, With &&...with)
{
	INFO(shown(__PRETTY_FUNCTION__));
	on_thread(1, [&] {
		const irqs on(true);
		Guard held(lock, with...);

		on_thread(2, [&] {
			const irqs on_too(!irq_only_lock<L>);

			CHECK(panic_of([&] { handed_over(lock); }) == "");
			CHECK(panic_of([&] { assert_held(lock); }) == "");
			CHECK(panic_of([&] { held.unlock(); }) == "");
		});
	});
	for (unsigned long thread : {1, 2})
		on_thread(thread, [&] {
			CHECK(panic_of([&] { klock::thread_ends(); }) == "");
			CHECK(panic_of([&] { might_switch(); }) == "");
		});
}

template <typename L, typename... With>
static void hand_over_in_wrappers(With &&...with)
{
	static constinit section_maxima<8> maxima;
	L plain;
	checked_lock<L> checked;
	thread_lock<L> threads;
	checked_lock<thread_lock<L>> checked_threads;
	timed_lock<checked_lock<L>, maxima> timed;

	hand_over<guard>(plain, with...);
	hand_over<guard>(checked, with...);
	hand_over<guard>(threads, with...);
	hand_over<guard>(checked_threads, with...);
	hand_over<guard>(timed, with...);
	if constexpr (!sleeping<L>) {
		irq_lock<L> irq;
		irq_lock<checked_lock<L>> checked_irq;

		hand_over<irq_guard>(irq, with...);
		hand_over<irq_guard>(checked_irq, with...);
	}
}

template <typename L>
static void read_hand_over_to_write()
{
	checked_lock<L> lock;

	hand_over<upgradable_guard>(lock);
}

/* misuse/types.cpp has the locks that are refused. */
TEST_CASE("lock_order: which locks are handed over")
{
	const auto each = [] {
		static mcs_node node;
		static clh_node place;

		hand_over_in_wrappers<ticket_lock<u8>>();
		hand_over_in_wrappers<preemptable_ticket_lock<u16>>();
		hand_over_in_wrappers<tas_lock>();
		hand_over_in_wrappers<queued_lock<8>>();
		hand_over_in_wrappers<mcs_lock>(node);
		hand_over_in_wrappers<clh_lock>(place);
		hand_over_in_wrappers<bakery_lock<4>>(3u);
		hand_over_in_wrappers<timeout_lock<4>>(3u);
		hand_over_in_wrappers<rw_ticket_lock<u8>>();
		hand_over_in_wrappers<reader_lock<4>>();
		hand_over_in_wrappers<counted_lock<ticket_lock<u8>>>();
		hand_over_in_wrappers<mutex>();
		hand_over_in_wrappers<shared_mutex>();
		read_hand_over_to_write<phase_fair_lock<u8>>();
	};

	each();
	new_order<64, 4> fresh;
	each();
}

/* Threads whose numbers are addresses, of stacks or of pages. */
TEST_CASE("checked_lock: owners far apart have places of their own")
{
	for (unsigned bits : {12, 14, 16, 20}) {
		checked_lock<ticket_lock<u8>, "theirs"> theirs[16];
		unsigned named = 0;

		for (unsigned long i = 0; i < 16; i++) {
			current_thread = (0x7f00 + i) << bits;
			theirs[i].lock();
		}
		for (unsigned long i = 0; i < 16; i++) {
			current_thread = (0x7f00 + i) << bits;
			named += panic_of([] { might_switch(); }) != "";
			theirs[i].unlock();
		}
		current_thread = 0;
		CHECK(named == 16);
	}
}

/* Owners 1 and 33 have the same places in held_spins. */
TEST_CASE("checked_lock: an owner holds what it took, not its neighbour's")
{
	checked_lock<ticket_lock<u8>, "theirs"> theirs;

	current_thread = 1;
	theirs.lock();
	current_thread = 33;
	CHECK(panic_of([] { might_switch(); }) == "");
	current_thread = 1;
	has(panic_of([] { might_switch(); }), "theirs was taken at ");
	theirs.unlock();
	current_thread = 0;
}

TEST_CASE("checked_lock: an owner that leaves does not leave for another")
{
	checked_lock<phase_fair_lock<u8>, "routes"> routes;

	current_thread = 1;
	routes.lock_shared();
	current_thread = 33;
	routes.lock_shared();
	routes.unlock_shared();
	current_thread = 1;
	has(panic_of([] { might_switch(); }), "routes was taken at ");
	routes.unlock_shared();
	current_thread = 0;
}

} // namespace lock_order_owner_tests
