/* SPDX-License-Identifier: MIT */
/*
 * reader_lock: its lines, all its CPUs, nested reads, the writers' wrap.
 */
#include <klock/reader_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

TEST_CASE("reader_lock: sizes are a line, and one for each CPU")
{
	static_assert(sizeof(reader_lock<1>) == 2 * cache_line);
	static_assert(sizeof(reader_lock<4>) == 5 * cache_line);
	static_assert(alignof(reader_lock<4>) == cache_line);

	static constinit reader_lock<3> lock;
	CHECK(all_zero(lock));
}

TEST_CASE("reader_lock: all CPUs read at once, and a writer waits for each")
{
	static reader_lock<5> lock;

	for (unsigned cpu = 0; cpu < 5; cpu++)
		lock.lock_shared(cpu);
	CHECK(lock.is_locked());
	for (unsigned cpu = 0; cpu < 5; cpu++) {
		line<reader_lock<5>> writer(lock);

		if (cpu < 4)
			lock.unlock_shared(cpu);
	}
	CHECK(lock.is_locked());
	lock.unlock_shared(4);
	CHECK_FALSE(lock.is_locked());
	lock.lock();
	for (unsigned cpu = 0; cpu < 5; cpu++)
		CHECK_FALSE(lock.try_lock_shared(cpu));
	lock.unlock();
	CHECK(lock.try_lock_shared(2));
	lock.unlock_shared(2);
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("reader_lock: reads of one CPU nest, 255 of them")
{
	static reader_lock<2> lock;

	for (unsigned depth = 0; depth < 255; depth++)
		lock.lock_shared(1);
	for (unsigned depth = 0; depth < 255; depth++) {
		CHECK(lock.is_locked());
		lock.unlock_shared(1);
	}
	CHECK_FALSE(lock.is_locked());

	/* Inside of a read, one more is no matter of a writer that waits. */
	lock.lock_shared(0);
	line<reader_lock<2>> writer(lock);
	writer.add(1);
	CHECK_FALSE(lock.try_lock_shared(1));
	CHECK(lock.try_lock_shared(0));
	lock.unlock_shared(0);
	lock.unlock_shared(0);
	writer.leave();
	CHECK_FALSE(lock.is_locked());
}

namespace {

/* Writers that have their tickets, and will wait later. */
struct drawn_for : reader_lock<1> {
	void draw()
	{
		CHECK(lock_telling([](auto) {}));
	}
};

} // namespace

TEST_CASE("reader_lock: at capacity, readers stay out")
{
	static drawn_for lock;
	u64 writers = 1;

	for (lock.lock(); writers < drawn_for::max_contenders; writers++) {
		lock.draw();
		REQUIRE_FALSE(lock.try_lock_shared(0));
	}
	CHECK(lock.is_locked());
	/* The bound is no smaller than it need be. */
	lock.draw();
	CHECK(lock.try_lock_shared(0));
}

TEST_CASE("reader_lock: the writers' tickets wrap, and readers see it")
{
	static reader_lock<1> lock;

	for (unsigned writes = 0; writes < 70000; writes++) {
		lock.lock();
		REQUIRE_FALSE(lock.try_lock_shared(0));
		lock.unlock();
		REQUIRE(lock.try_lock_shared(0));
		lock.unlock_shared(0);
	}
	CHECK_FALSE(lock.is_locked());
}
