/* SPDX-License-Identifier: MIT */
/*
 * seq_count, seq_lock, seq_latch by one thread. Between two instructions:
 * test_sequences_steps.cpp.
 */
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>

#include "line.hpp"

#include <catch.hpp>

#include <array>
#include <cstring>

using namespace klock;
using namespace unit;

namespace {

struct clock_value {
	u64 seconds;
	u32 part;

	friend bool operator==(const clock_value &,
			       const clock_value &) = default;
};

struct three {
	u8 at[3];
};

struct padded {
	u8 small;
	u32 large;
};

constexpr u64 all_ones = ~u64{0};

} // namespace

TEST_CASE("seq_lock: sizes: T and 4 bytes, rounded up to T's alignment")
{
	static_assert(sizeof(seq_count) == 4);
	static_assert(sizeof(seq_lock<u8>) == 8);
	static_assert(sizeof(seq_lock<u32>) == 8);
	static_assert(sizeof(seq_lock<three>) == 8);
	static_assert(sizeof(seq_lock<std::array<u32, 4>>) == 20);
	static_assert(sizeof(seq_lock<u64>) ==
		      sizeof(u64) + (sizeof(usize) == 8 ? 8 : 4));
	static_assert(sizeof(seq_latch<std::array<u32, 4>>) == 36);
}

TEST_CASE("seq_lock: zero bytes are a value of zero bytes, never written")
{
	static constinit seq_lock<padded> lock;
	static constinit seq_latch<clock_value> latch;

	CHECK(all_zero(lock));
	CHECK(all_zero(latch));
	CHECK(lock.read().large == 0);
	CHECK(latch.read() == clock_value{0, 0});
	CHECK_FALSE(lock.is_locked());
}

TEST_CASE("seq_lock: what is written is read, whatever its shape")
{
	static constinit seq_lock<u64> number{7};
	seq_lock<three> odd(three{{1, 2, 3}});
	seq_lock<padded> hole;
	seq_lock<int *> pointer;
	seq_lock<bool> flag(true);
	static constinit seq_lock<std::array<u8, 3000>> large(
		std::array<u8, 3000>{1, 2});
	int target = 0;

	CHECK(number.read() == 7);
	number.write(all_ones);
	CHECK(number.read() == all_ones);
	number.update([](u64 &v) { v -= 2; });
	CHECK(number.read() == all_ones - 2);
	CHECK(odd.read().at[2] == 3);
	odd.update([](three &v) { v.at[0] = 9; });
	CHECK(odd.read().at[0] == 9);
	CHECK(odd.read().at[1] == 2);
	hole.write({5, 70000});
	CHECK(hole.read().small == 5);
	CHECK(hole.read().large == 70000);
	pointer.write(&target);
	CHECK(pointer.read() == &target);
	CHECK(flag.read());
	CHECK(large.read()[1] == 2);
	CHECK(large.read()[2999] == 0);
}

TEST_CASE("seq_lock: the sequence wraps")
{
	seq_lock<u32> lock(1, ~u32{0} / 2);
	u32 seen = 0;

	for (u32 i = 2; i < 8; i++) {
		lock.write(i);
		CHECK(lock.read() == i);
		CHECK(lock.try_read(seen));
		CHECK(seen == i);
	}
}

TEST_CASE("seq_count: tells a reader of each write since it began")
{
	seq_count count;
	const u32 began = count.read_begin();
	u32 other = 0;

	CHECK_FALSE(count.read_retry(began));
	count.write_begin();
	CHECK(count.is_written());
	CHECK(count.read_retry(began));
	CHECK_FALSE(count.read_try_begin(other));
	count.write_end();
	CHECK_FALSE(count.is_written());
	CHECK(count.read_retry(began));
	CHECK(count.read_try_begin(other));
	CHECK(other != began);
	CHECK_FALSE(count.read_retry(other));
}
