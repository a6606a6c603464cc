/* SPDX-License-Identifier: MIT */
/*
 * queued_lock: its word, the nodes of its CPUs, and who waits without one.
 *
 * It asks klock_os_cpu_id(), which is this file's.
 */
#include <klock/checked_lock.hpp>
#include <klock/queued_lock.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <cstring>
#include <memory>

using namespace klock;
using namespace unit;

namespace {

/* Each test's own: nodes belong to the type. */
template <unsigned Cpus>
bool all_clean()
{
	for (unsigned cpu = 0; cpu < Cpus; cpu++)
		if (!queued_lock<Cpus>::is_clean(cpu))
			return false;
	return true;
}

/* A wait of one CPU, and the lock that it is for, which somebody else holds. */
template <unsigned Cpus>
struct wait {
	explicit wait(unsigned cpu) : who(lock)
	{
		lock.lock();
		who.start(cpu);
	}
	void queue()
	{
		wait_until([this] { return lock.is_contended(); }, "to queue");
	}
	void end()
	{
		lock.unlock();
		who.leave();
	}

	queued_lock<Cpus> lock;
	line<queued_lock<Cpus>> who;
};

} // namespace

TEST_CASE("queued_lock: sizes: 4 bytes, a line a CPU, all free when zero")
{
	static_assert(sizeof(queued_lock<1>) == 4);
	static_assert(sizeof(queued_lock<16383>) == 4);
	static_assert(sizeof(queued_cpu) == cache_line);
	static_assert(alignof(queued_cpu) == cache_line);
	static_assert(queued_lock<16383>::max_contenders == 65532);
	static constinit queued_lock<5> lock;

	CHECK(all_zero(lock));
	CHECK(all_clean<5>());
	lock.lock();
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended());
	lock.unlock();
	CHECK(all_zero(lock));
}

TEST_CASE("queued_lock: waiters are served in arrival order")
{
	queued_lock<17> lock;

	CHECK(served_behind_holder(lock, 16) == one_to(16));
	CHECK(all_zero(lock));
	CHECK(all_clean<17>());
}

TEST_CASE("queued_lock: the last of the largest table, which a tail can name")
{
	using large = queued_lock<16383>;
	large lock;
	line<large> others(lock);

	lock.lock();
	others.add(16382);
	others.add(0);
	lock.unlock();
	CHECK(others.leave() == std::vector<unsigned>{16382, 0});
	CHECK(large::is_clean(16382));
}

TEST_CASE("queued_lock: try_lock takes a free lock only, others can queue")
{
	queued_lock<6> lock;
	line<queued_lock<6>> others(lock);

	REQUIRE(lock.try_lock());
	CHECK_FALSE(lock.try_lock());
	others.add(1);
	CHECK(lock.is_contended());
	const auto before = bytes_of(lock);
	CHECK_FALSE(lock.try_lock());
	CHECK(bytes_of(lock) == before);
	lock.unlock();
	CHECK(others.leave() == one_to(1));
	CHECK(lock.try_lock());
	lock.unlock();
	CHECK(all_zero(lock));
}

TEST_CASE("queued_lock: try_lock leaves a free lock to who queues")
{
	/* As between an unlock and the first in the queue. */
	const u16 free_and_queued[2] = {0, 1};
	queued_lock<6> lock;

	std::memcpy(static_cast<void *>(&lock), free_and_queued, sizeof(lock));
	const auto before = bytes_of(lock);
	CHECK_FALSE(lock.is_locked());
	CHECK(lock.is_contended());
	CHECK_FALSE(lock.try_lock());
	CHECK(bytes_of(lock) == before);
}

TEST_CASE("queued_lock: lock() asks for the CPU's number, lock_from() is told")
{
	queued_lock<7> lock;
	std::vector<unsigned> order;
	const auto by = [&](unsigned cpu, bool told) {
		return std::thread([&, cpu, told] {
			current_cpu = told ? 99 : cpu;
			told ? lock.lock_from(cpu) : lock.lock();
			order.push_back(cpu);
			lock.unlock();
		});
	};

	/* A CPU whose number is too large may have it while it is free. */
	current_cpu = 99;
	lock.lock();
	current_cpu = 0;
	const auto queued = [&](unsigned cpu, bool told) {
		const selftest::doorway<queued_lock<7>> door(lock);
		std::thread thread = by(cpu, told);
		wait_until([&] { return door.passed(cpu); }, "to queue");
		CHECK_FALSE(lock.is_clean(cpu));
		return thread;
	};
	std::thread asks = queued(4, false);
	std::thread told = queued(2, true);
	lock.unlock();
	asks.join();
	told.join();
	CHECK(order == std::vector<unsigned>{4, 2});
	CHECK(all_clean<7>());
}

TEST_CASE("queued_lock: a fifth wait of one CPU, and what comes after it")
{
	using lock = queued_lock<8>;
	std::vector<std::unique_ptr<wait<8>>> waits;

	/* As handlers that interrupt each other; here each is a thread. */
	for (unsigned level = 0; level < queued_cpu::levels; level++) {
		CHECK(lock::has_node(3));
		waits.push_back(std::make_unique<wait<8>>(3));
		waits.back()->queue();
	}
	CHECK_FALSE(lock::has_node(3));
	CHECK(lock::has_node(2));
	/* Each is in its queue with another node. */
	for (unsigned level = 1; level < queued_cpu::levels; level++)
		CHECK(bytes_of(waits[level]->lock) !=
		      bytes_of(waits[level - 1]->lock));
	wait<8> fifth(3);
	/* It does not queue, and others may. */
	line<lock> other(fifth.lock);
	other.add(2);
	fifth.end();
	other.leave();
	CHECK(all_zero(fifth.lock));
	for (unsigned level = queued_cpu::levels; level-- > 0;) {
		waits[level]->end();
		CHECK(all_zero(waits[level]->lock));
		CHECK(lock::has_node(3));
	}
	CHECK(all_clean<8>());
}

TEST_CASE("queued_lock: a CPU that starts anew has its nodes again")
{
	using lock = queued_lock<9>;
	wait<9> stopped(1);

	stopped.queue();
	CHECK_FALSE(lock::is_clean(1));
	lock::forget_waits(1);
	CHECK(lock::is_clean(1));
	/* The first in the queue needs no node to go on: it may end. */
	stopped.end();
	CHECK(all_clean<9>());
}

TEST_CASE("queued_lock: checked: a wait without a node is named")
{
	using lock = queued_lock<10>;
	checked_lock<lock, "inode"> checked;
	const char *const what = "a CPU number beyond capacity, or more waits "
				 "at once than a CPU has nodes";
	irqs off(false);

	has(panic_of([&] { as(10, context::thread, [&] { checked.lock(); }); }),
	    what);
	has(panic_of([&] { checked.lock_from(10); }), what);
	/* Nothing of it has stayed; a try waits for nobody. */
	as(9, context::thread, [&] {
		checked.lock();
		CHECK(checked.is_held_by_me());
		checked.unlock();
		CHECK(checked.try_lock());
		checked.unlock();
	});
	std::vector<std::unique_ptr<wait<10>>> waits;
	for (unsigned level = 0; level < queued_cpu::levels; level++) {
		waits.push_back(std::make_unique<wait<10>>(4));
		waits.back()->queue();
	}
	has(panic_of([&] { as(4, context::thread, [&] { checked.lock(); }); }),
	    what);
	for (unsigned level = queued_cpu::levels; level-- > 0;)
		waits[level]->end();
	as(4, context::thread, [&] {
		checked.lock();
		checked.unlock();
	});
}
