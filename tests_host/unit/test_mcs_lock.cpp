/* SPDX-License-Identifier: MIT */
/*
 * mcs_lock: its nodes, and the queue that they form.
 */
#include <klock/mcs_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <memory>

using namespace klock;
using namespace unit;

TEST_CASE("mcs_lock: sizes are a pointer, and two for a node; zero is free")
{
	static_assert(sizeof(mcs_lock) == sizeof(void *));
	static_assert(sizeof(mcs_node) == 2 * sizeof(void *));
	static constinit mcs_lock lock;
	static constinit mcs_node node;

	CHECK(all_zero(lock));
	lock.lock(node);
	CHECK(lock.is_locked());
	lock.unlock(node);
	CHECK(all_zero(lock));
}

TEST_CASE("mcs_lock: waiters are served in arrival order")
{
	mcs_lock lock;

	CHECK(served_behind_holder(lock, 16) == one_to(16));
	CHECK(all_zero(lock));
}

TEST_CASE("mcs_lock: try_lock takes a free lock only, others can queue behind")
{
	mcs_lock lock;
	mcs_node mine, in_vain;
	line<mcs_lock> others(lock);

	REQUIRE(lock.try_lock(mine));
	CHECK(lock.is_locked());
	CHECK_FALSE(lock.try_lock(in_vain));
	CHECK_FALSE(lock.is_contended(mine));
	others.add(1);
	CHECK(lock.is_contended(mine));
	others.add(2);
	CHECK_FALSE(lock.try_lock(in_vain));
	lock.unlock(mine);
	CHECK(others.leave() == one_to(2));
	CHECK(lock.try_lock(in_vain));
	lock.unlock(in_vain);
	CHECK(all_zero(lock));
}

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
