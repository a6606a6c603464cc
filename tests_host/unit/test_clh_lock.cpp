/* SPDX-License-Identifier: MIT */
/*
 * clh_lock: where its cells go.
 */
#include <klock/clh_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

namespace {

template <typename L>
concept has_try_lock =
	requires(L &lock, typename L::node &node) { lock.try_lock(node); };

} // namespace
TEST_CASE("clh_lock: sizes are two lines, and two for a node")
{
	static_assert(sizeof(clh_lock) == 2 * cache_line);
	static_assert(sizeof(clh_node) == 2 * cache_line);
	static_assert(sizeof(clh_cell) == 1);
	static constinit clh_lock lock;
	static constinit clh_node node;

	CHECK_FALSE(lock.is_locked());
	lock.lock(node);
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.is_contended(node));
	lock.unlock(node);
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("clh_lock: waiters are served in arrival order")
{
	clh_lock lock;

	/* No look at the lock after: the cell that it rests on has died. */
	CHECK(served_behind_holder(lock, 16) == one_to(16));
}

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

/* Both take the lock by their nodes, again and again; who was inside alone. */
static unsigned alone_inside(cpu_area *areas)
{
	constexpr int times = 500;
	clh_lock lock;
	unsigned inside = 0, alone = 0;
	std::vector<std::thread> cpus;

	for (unsigned cpu = 0; cpu < 2; cpu++)
		cpus.emplace_back([&, cpu] {
			for (int i = 0; i < times; i++) {
				lock.lock(areas[cpu].node);
				inside++;
				std::this_thread::yield();
				alone += inside == 1;
				inside--;
				lock.unlock(areas[cpu].node);
			}
		});
	for (std::thread &cpu : cpus)
		cpu.join();
	return alone;
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

TEST_CASE("clh_lock: the holder sees that somebody waits")
{
	clh_lock lock;
	clh_node mine;
	line<clh_lock> others(lock);

	lock.lock(mine);
	others.add(1);
	CHECK(lock.is_contended(mine));
	lock.unlock(mine);
	others.leave();
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("clh_lock: has no try_lock, and its nodes do not live on the stack")
{
	static_assert(!has_try_lock<clh_lock>);
	static_assert(!clh_lock::node_may_live_on_stack);
	SUCCEED();
}
