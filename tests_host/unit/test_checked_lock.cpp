/* SPDX-License-Identifier: MIT */
/*
 * checked_lock: each misuse is named, with the lock, the CPU, the holder and
 * both call sites; correct use is left alone; switched off it is not there.
 */
#include <klock/checked_lock.hpp>
#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>
#include <klock/selftest/locks.hpp>

#include "pretended_kernel.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace klock;

/* "this file:line", as a panic prints it */
static std::string line(int number)
{
	return misuse_text().add(call_site{__FILE__, number}).c_str();
}

using byte_lock = checked_lock<ticket_lock<u8>, "runqueue">;

TEST_CASE("checked_lock: costs nothing when off: it is the lock itself")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		STATIC_REQUIRE(same_as<checked_if<false, L, "x">, L>);
		STATIC_REQUIRE(same_as<checked_if<true, L, "x">,
				       checked_lock<L, "x">>);
	});
}

TEST_CASE("checked_lock: sizes")
{
	STATIC_REQUIRE(sizeof(lock_usage) == (sizeof(void *) == 8 ? 80 : 56));
	STATIC_REQUIRE(sizeof(checked_if<false, ticket_lock<u8>>) == 2);
	STATIC_REQUIRE(sizeof(byte_lock) ==
		       sizeof(checked_if<true, ticket_lock<u8>>));
}

TEST_CASE("checked_lock: the lock inside does what it does without")
{
	selftest::all_locks<4>::for_each([]<typename Subject>() {
		using L = typename Subject::lock;
		using C = checked_lock<L, "inner">;
		static C lock;
		static selftest::contender<C> who(1);

		INFO(Subject::name);
		STATIC_REQUIRE(C::max_contenders == L::max_contenders);
		STATIC_REQUIRE(plain_lock<C> == plain_lock<L>);
		STATIC_REQUIRE(node_lock<C> == node_lock<L>);
		STATIC_REQUIRE(cpu_lock<C> == cpu_lock<L>);
		STATIC_REQUIRE(stack_node_lock<C> == stack_node_lock<L>);
		STATIC_REQUIRE(try_lockable<C> == try_lockable<L>);
		for (int i = 0; i < 3; i++) {
			who.lock(lock);
			CHECK(lock.is_locked());
			who.unlock(lock);
			CHECK_FALSE(lock.is_locked());
		}
		if constexpr (try_lockable<C>) {
			CHECK(who.try_lock(lock));
			who.unlock(lock);
		}
	});
}

TEST_CASE("checked_lock: constructs what is inside")
{
	static constinit checked_lock<ticket_lock<u8>> wrapping(u8{255});

	guard held(wrapping);
	CHECK(wrapping.is_locked());
}

TEST_CASE("checked_lock: recursion on the same CPU is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	lock.lock();
	const int second = __LINE__ + 1;
	const std::string said = panic_of([&] { lock.lock(); });

	has(said, "runqueue, CPU 0: recursion");
	has(said, "at " + line(second));
	has(said, "held by CPU 0, taken at " + line(first));
}

TEST_CASE("checked_lock: a guard's call site is the guard's, not guard.hpp's")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	guard held(lock);
	const int second = __LINE__ + 1;
	const std::string said = panic_of([&] { irq_guard again(lock); });

	has(said, "at " + line(second));
	has(said, "taken at " + line(first));
}

TEST_CASE("checked_lock: unlock of a free lock is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	lock.lock();
	lock.unlock();
	const std::string said = panic_of([&] { lock.unlock(); });

	has(said, "unlock of a free lock; at " + line(__LINE__ - 2));
	has(said, "last taken at " + line(first));
	has(panic_of([] { byte_lock().unlock(); }), "last taken at (nowhere)");
}

TEST_CASE("checked_lock: unlock by another CPU is named")
{
	byte_lock lock;
	const int first = __LINE__ + 1;
	as(2, context::thread, [&] { lock.lock(); });
	const std::string said = panic_of(
		[&] { as(1, context::thread, [&] { lock.unlock(); }); });

	has(said, "CPU 1: unlock by another than its holder");
	has(said, "at " + line(__LINE__ - 3));
	has(said, "held by CPU 2, taken at " + line(first));
}

TEST_CASE("checked_lock: one more contender than capacity is named")
{
	checked_lock<narrow_ticket_lock<2>, "tiny"> lock;
	std::mutex mutex;
	std::condition_variable complained;
	std::string said;
	std::vector<std::thread> waiters;
	const auto wait = [&](unsigned cpu) {
		current_cpu = cpu;
		const std::string mine = panic_of([&] {
			lock.lock();
			lock.unlock();
		});
		std::lock_guard hold(mutex);
		said += mine;
		complained.notify_all();
	};

	lock.lock();
	/* The holder and four more: whoever comes last is one too many. */
	for (unsigned cpu = 1; cpu < 5; cpu++)
		waiters.emplace_back(wait, cpu);
	{
		std::unique_lock hold(mutex);
		complained.wait(hold, [&] { return !said.empty(); });
	}
	lock.unlock();
	for (auto &waiter : waiters)
		waiter.join();
	has(said, "more contenders than its capacity");
	has(said, "held by CPU 0");
	CHECK(said.find("tiny, CPU") == said.rfind("tiny, CPU"));
}

TEST_CASE("checked_lock: real threads use it rightly and nothing is said")
{
	static checked_lock<ticket_lock<u16>, "shared"> lock;
	unsigned long sum = 0;
	std::vector<std::thread> threads;

	for (unsigned cpu = 0; cpu < 4; cpu++)
		threads.emplace_back([&sum, cpu] {
			current_cpu = cpu;
			for (int i = 0; i < 5000; i++) {
				irq_guard held(lock);
				sum++;
			}
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(sum == 20000);
}

/* -- Names at run time ------------------------------------------------------
 */

/* Any checked one, whatever its name: no template. */
static void use_twice(checked_if<true, ticket_lock<u8>> &lock)
{
	guard held(lock);
	lock.lock();
}

TEST_CASE("checked_lock: a name at run time, and none")
{
	checked_if<true, ticket_lock<u8>> late, nameless;

	set_name(late, "late");
	has(panic_of([&] { use_twice(late); }), "late, CPU 0: recursion");
	has(panic_of([&] { use_twice(nameless); }), "lock, CPU 0: recursion");
}

TEST_CASE("checked_lock: a name in the type is one at run time, too")
{
	static constinit byte_lock lock;
	byte_lock renamed;

	set_name(renamed, "disk");
	has(panic_of([&] { use_twice(lock); }), "runqueue, CPU 0: recursion");
	has(panic_of([&] { use_twice(renamed); }), "disk, CPU 0: recursion");
}

TEST_CASE("checked_lock: elements of an array are told apart")
{
	checked_if<true, ticket_lock<u8>> queues[4];

	for (u32 i = 0; i < 4; i++)
		set_name(queues[i], "runqueue", i);
	has(panic_of([&] { use_twice(queues[0]); }), "runqueue[0], CPU 0");
	has(panic_of([&] { use_twice(queues[3]); }), "runqueue[3], CPU 0");
}

TEST_CASE("checked_lock: an unchecked lock takes a name and forgets it")
{
	checked_if<false, ticket_lock<u8>> lock;

	set_name(lock, "late");
	set_name(lock, "late", 3);
	STATIC_REQUIRE(sizeof(lock) == 2);
}

TEST_CASE("checked_lock: zero bytes are a free lock without a name")
{
	using L = checked_if<true, ticket_lock<u8>>;
	alignas(L) unsigned char bytes[sizeof(L)] = {};
	L &lock = *reinterpret_cast<L *>(bytes);

	{
		guard held(lock);
		CHECK(lock.is_locked());
	}
	CHECK_FALSE(lock.is_locked());
	has(panic_of([&] { lock.unlock(); }),
	    "lock, CPU 0: unlock of a free lock");
	set_name(lock, "allocated");
	has(panic_of([&] { lock.unlock(); }), "allocated, CPU 0: unlock");
}
