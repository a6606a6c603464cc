/* SPDX-License-Identifier: MIT */
/*
 * Locks whose waiters stand in a list of nodes: what is special to each. What
 * they have in common: test_every_lock.cpp, test_waiters.cpp.
 */
#include <klock/checked_lock.hpp>
#include <klock/clh_lock.hpp>
#include <klock/mcs_lock.hpp>
#include <klock/queued_lock.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

#include <cstring>
#include <memory>
using namespace klock;
using namespace unit;

/*
 * mcs_lock: its nodes, and the queue that they form.
 */
namespace mcs_tests {

TEST_CASE("mcs_lock: try_lock starts a used node anew")
{
	/* After its first use, the node's `next` is its successor of then. */
	mcs_lock lock;
	mcs_node mine;
	{
		line<mcs_lock> others(lock);
		lock.lock(mine);
		others.add(1);
		lock.unlock(mine);
		others.leave();
	}
	REQUIRE(lock.try_lock(mine));
	lock.unlock(mine);
	CHECK(all_zero(lock));
}

TEST_CASE("mcs_lock: a node is free for another lock once unlock has returned")
{
	mcs_lock a, b;
	mcs_node node, inner;

	for (int i = 0; i < 3; i++) {
		a.lock(node);
		b.lock(inner);
		b.unlock(inner);
		a.unlock(node);
		b.lock(node);
		b.unlock(node);
	}
	CHECK(all_zero(a));
	CHECK(all_zero(b));
}

TEST_CASE("mcs_lock: a node may die as soon as unlock has returned")
{
	/* Address sanitizer sees a late write to a node that is gone. */
	mcs_lock lock;
	unsigned sections = 0;
	std::vector<std::thread> threads;

	for (int t = 0; t < 4; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < 500; i++) {
				auto node = std::make_unique<mcs_node>();
				lock.lock(*node);
				sections++;
				lock.unlock(*node);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	CHECK(sections == 2000);
}

} // namespace mcs_tests

/*
 * clh_lock: where its cells go.
 */
namespace clh_tests {

/*
 * The cell that an unlocked node would use next: its second line's first; null
 * for its own, its first line's first.
 */
static const void *cell_of(const clh_node &node)
{
	const void *cell;

	std::memcpy(&cell, reinterpret_cast<const char *>(&node) + cache_line,
		    sizeof(cell));
	return cell ? cell : &node;
}

TEST_CASE("clh_lock: unlock keeps the predecessor's cell and leaves its own")
{
	clh_lock lock;
	clh_node a, b;
	const void *const cell_of_a = cell_of(a);
	const void *const cell_of_b = cell_of(b);

	CHECK(cell_of_a == &a);
	lock.lock(a);
	lock.unlock(a);
	const void *const cell_of_lock = cell_of(a);
	CHECK(cell_of_lock > static_cast<void *>(&lock));
	CHECK(cell_of_lock < static_cast<void *>(&lock + 1));

	lock.lock(b);
	lock.unlock(b);
	CHECK(cell_of(b) == cell_of_a);
	lock.lock(a);
	lock.unlock(a);
	CHECK(cell_of(a) == cell_of_b);
	CHECK(cell_of(b) == cell_of_a);
}

/* Two CPUs' areas, as kernels make them before the CPUs run. */
struct cpu_area {
	unsigned number = 0;
	clh_node node;
};

/* Both CPUs take the lock by their nodes, again and again. */
static unsigned alone_inside(cpu_area *areas)
{
	/* Its contenders have numbers, by which they find their nodes. */
	struct lock_of_areas {
		void lock(unsigned cpu) { inner.lock(areas[cpu].node); }
		void unlock(unsigned cpu) { inner.unlock(areas[cpu].node); }
		bool is_locked() const { return inner.is_locked(); }

		clh_lock inner;
		cpu_area *areas;
	} lock{{}, areas};

	return sections_alone(lock, 2, 500, 10);
}

TEST_CASE("clh_lock: nodes that are copies of an unused one have cells apart")
{
	static constinit cpu_area model;
	static cpu_area areas[2];

	for (cpu_area &area : areas)
		std::memcpy(static_cast<void *>(&area), &model, sizeof(area));
	REQUIRE(cell_of(areas[0].node) == &areas[0].node);
	REQUIRE(cell_of(areas[1].node) == &areas[1].node);
	CHECK(alone_inside(areas) == 1000);
}

TEST_CASE("clh_lock: zero bytes are an unused node, and no lock")
{
	static constinit clh_lock lock;
	static cpu_area areas[2];

	std::memset(static_cast<void *>(areas), 0, sizeof(areas));
	REQUIRE(cell_of(areas[0].node) == &areas[0].node);
	REQUIRE(cell_of(areas[1].node) == &areas[1].node);
	CHECK(alone_inside(areas) == 1000);
	/* It points to its own cell. */
	CHECK_FALSE(all_zero(lock));
	static constinit clh_node fresh; /* static: its padding is zero, too */
	CHECK(all_zero(fresh));
}

TEST_CASE("clh_lock: a node goes from lock to lock, with whatever cell it has")
{
	clh_lock first, second;
	clh_node outer, inner;

	for (int i = 0; i < 5; i++) {
		first.lock(outer);
		second.lock(inner);
		CHECK(first.is_locked());
		CHECK(second.is_locked());
		second.unlock(inner);
		first.unlock(outer);
		second.lock(outer);
		CHECK_FALSE(first.is_locked());
		second.unlock(outer);
	}
}

TEST_CASE("clh_lock: its nodes do not live on the stack")
{
	static_assert(!clh_lock::node_may_live_on_stack);
	SUCCEED();
}

} // namespace clh_tests

/*
 * queued_lock: its word, the nodes of its CPUs, and who waits without one.
 *
 * It asks klock_os_cpu_id(), which is this file's.
 */
namespace queued_tests {

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

TEST_CASE("queued_lock: the last of the largest table, which a tail can name")
{
	using large = queued_lock<16383>;
	static_assert(large::max_contenders == 65532);
	large lock;
	line<large> others(lock);

	lock.lock();
	others.add(16382);
	others.add(0);
	lock.unlock();
	CHECK(others.leave() == std::vector<unsigned>{16382, 0});
	CHECK(large::is_clean(16382));
}

TEST_CASE("queued_lock: at rest: no byte is set, and no node is in use")
{
	queued_lock<17> lock;

	CHECK(all_clean<17>());
	CHECK(served_behind_holder(lock, 16) == one_to(16));
	CHECK(all_zero(lock));
	CHECK(all_clean<17>());
}

TEST_CASE("queued_lock: a try in vain changes nothing of a queue")
{
	queued_lock<6> lock;
	line<queued_lock<6>> others(lock);

	lock.lock();
	others.add(1);
	const auto before = bytes_of(lock);
	CHECK_FALSE(lock.try_lock());
	CHECK(bytes_of(lock) == before);
	lock.unlock();
	others.leave();
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
	const char *const what = "a CPU number beyond the lock's capacity, or "
				 "more waits at once than a CPU has nodes";
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

} // namespace queued_tests
