/* SPDX-License-Identifier: MIT */
/*
 * once, lazy, spin_barrier by one thread. The panic throws, so that it can be
 * read.
 */
#include <klock/barrier.hpp>
#include <klock/once.hpp>

#include "line.hpp"
#include "pretended_kernel.hpp"

#include <catch.hpp>

using namespace klock;
using namespace unit;

namespace once_tests {

namespace {

struct counted {
	counted(int v) : value(v) { made++; }
	~counted() { destroyed++; }

	int value;
	static inline int made = 0, destroyed = 0;
};

} // namespace

TEST_CASE("once: size is a word, and zero bytes are new")
{
	static_assert(sizeof(once) == sizeof(usize));
	static constinit once tables;
	int runs = 0;

	CHECK(all_zero(tables));
	CHECK_FALSE(tables.is_done());
	CHECK(tables.call([&] { runs++; }));
	CHECK(tables.call([&] { runs++; }));
	CHECK(tables.is_done());
	CHECK(runs == 1);
}

TEST_CASE("once: what failed is tried again")
{
	once tables;
	int runs = 0;

	CHECK_FALSE(tables.call([&] { return ++runs > 1; }));
	CHECK_FALSE(tables.is_done());
	CHECK(tables.call([&] { return ++runs > 1; }));
	CHECK(tables.call([&] { return ++runs > 1; }));
	CHECK(runs == 2);
}

TEST_CASE("once: a function that calls itself is named, not hung")
{
	once tables;

	as(3, context::thread, [&] {
		CHECK(panic_of([&] {
			      tables.call([&] { tables.call([] {}); });
		      }) == "once, CPU 3: called again by the CPU that runs "
			    "it");
	});
}

TEST_CASE("once: a handler over its own CPU's function is named")
{
	once tables, others;
	bool ran = false;

	as(2, context::thread, [&] {
		tables.call([&] {
			as(2, context::interrupt, [&] {
				others.call([&] { ran = true; });
				CHECK(panic_of([&] { tables.call([] {}); }) ==
				      "once, CPU 2: called again by the CPU "
				      "that runs it");
			});
		});
	});
	CHECK(ran);
	CHECK(others.is_done());
	CHECK(tables.is_done());
}

TEST_CASE("lazy: made once, by the first, and never destroyed")
{
	counted::made = counted::destroyed = 0;
	{
		lazy<counted> shared;

		CHECK(shared.peek() == nullptr);
		CHECK(shared.get([] { return counted(5); }).value == 5);
		CHECK(shared.get([] { return counted(6); }).value == 5);
		CHECK(shared.peek()->value == 5);
		shared.peek()->value = 7;
		CHECK(shared.get([] { return counted(8); }).value == 7);
	}
	CHECK(counted::made == 1);
	CHECK(counted::destroyed == 0);
}

TEST_CASE("lazy: size is once and T; zero bytes are not made yet")
{
	struct stays {
		explicit stays(int v) : value(v) {}
		stays(const stays &) = delete;
		stays &operator=(const stays &) = delete;
		int value;
	};
	static constinit lazy<int> in_bss;
	static constinit lazy<stays> not_moved;

	static_assert(sizeof(lazy<int>) == 2 * sizeof(usize));
	static_assert(sizeof(lazy<u64>) == 8 + alignof(lazy<u64>));
	CHECK(all_zero(in_bss));
	CHECK(in_bss.get([] { return 4; }) == 4);
	CHECK(not_moved.get([] { return stays(6); }).value == 6);
}

TEST_CASE("spin_barrier: size is 8 bytes; one alone goes through")
{
	static_assert(sizeof(spin_barrier) == 8);
	static constinit spin_barrier meeting;

	CHECK(all_zero(meeting));
	for (int i = 0; i < 5; i++)
		CHECK(meeting.arrive_and_wait(1));
	CHECK(meeting.waiting() == 0);
}

} // namespace once_tests
