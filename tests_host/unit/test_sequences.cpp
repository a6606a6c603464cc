/* SPDX-License-Identifier: MIT */
/*
 * seq_count, seq_lock, seq_latch by one thread, and step by step.
 */
#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_count.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>

#include "line.hpp"
#include "stepper.hpp"

#include <catch.hpp>

#include <array>
#include <cstring>
#include <new>
using namespace klock;
using namespace unit;

/*
 * seq_count, seq_lock, seq_latch by one thread. Between two instructions:
 * test_sequences_steps.cpp.
 */
namespace sequences_tests {

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

} // namespace sequences_tests

/*
 * seq_lock and seq_latch between any two instructions of a writer, or of a
 * reader, where the host lets a test step.
 */
namespace sequences_steps_tests {

namespace {

struct clock_value {
	u64 seconds;
	u32 part;

	friend bool operator==(const clock_value &,
			       const clock_value &) = default;
};

constexpr clock_value before{1, 1}, after{2, 2};

/* The values read, and in how many of all interleavings. */
struct readings {
	void count(bool read, const clock_value &seen)
	{
		if (!read)
			refused++;
		else if (seen == before)
			old_ones++;
		else if (seen == after)
			new_ones++;
		else
			torn++;
	}

	unsigned refused = 0, old_ones = 0, new_ones = 0, torn = 0;
};

/* The second comes after each instruction of the first; one of them reads. */
template <typename L, typename First, typename Second>
readings interleaved(First first, Second second)
{
	readings all;

	for (unsigned long n = 1; can_step; n++) {
		L lock(before);
		clock_value seen = before;
		bool read = false;

		if (!with_intrusion(
			    n,
			    [&] {
				    if (first(lock, seen))
					    read = true;
			    },
			    [&] {
				    if (second(lock, seen))
					    read = true;
			    }))
			break;
		all.count(read, seen);
	}
	return all;
}

/* They return whether they have read. */
constexpr auto writes = [](auto &lock, clock_value &) {
	lock.write(after);
	return false;
};
constexpr auto reads = [](auto &lock, clock_value &seen) {
	seen = lock.read();
	return true;
};
constexpr auto tries_to_read = [](auto &lock, clock_value &seen) {
	return lock.try_read(seen);
};

/* Both values are read, and no other. */
void expect_whole(const readings &of)
{
	if (!can_step)
		return;
	CHECK(of.old_ones > 0);
	CHECK(of.new_ones > 0);
	CHECK(of.torn == 0);
}

} // namespace

TEST_CASE(
	"seq_lock: between any two instructions of a write, nobody reads half")
{
	const readings of =
		interleaved<seq_lock<clock_value>>(writes, tries_to_read);

	expect_whole(of);
	CHECK((of.refused > 0 || !can_step));
}

TEST_CASE("seq_lock: bypass: a writer makes a reader begin again")
{
	expect_whole(interleaved<seq_lock<clock_value>>(reads, writes));
	/* A try ends instead, or has read before. */
	expect_whole(interleaved<seq_lock<clock_value>>(tries_to_read, writes));
}

TEST_CASE("seq_latch: between any two instructions of a write, a whole value")
{
	expect_whole(interleaved<seq_latch<clock_value>>(writes, reads));
}

/* The clients above find the mistakes that show between two instructions. */
TEST_CASE("seq_lock: a torn value is found between two instructions")
{
	using selftest::busted_seq_lock;
	using selftest::seq_mistake;
	using no_look =
		busted_seq_lock<clock_value, seq_mistake::no_second_look>;
	using while_odd =
		busted_seq_lock<clock_value, seq_mistake::reads_while_odd>;

	if (!can_step)
		return;
	CHECK(interleaved<no_look>(reads, writes).torn > 0);
	CHECK(interleaved<while_odd>(writes, reads).torn > 0);
}

/* Another frees it as soon as it is whole: no byte is written after that. */
TEST_CASE("seq_lock: lifetime: a write's last access is the one that releases")
{
	constexpr unsigned char earth = 0xa5;
	using lock = seq_lock<clock_value>;
	alignas(lock) unsigned char room[sizeof(lock)];
	unsigned long freed = 0;

	for (unsigned long n = 1; can_step; n++) {
		lock *const it = new (room) lock(clock_value{1, 1});
		bool ended = false;
		const bool long_enough = with_intrusion(
			n,
			[&] {
				it->write({2, 2});
			},
			[&] {
				clock_value seen{};

				ended = it->try_read(seen) &&
					seen == clock_value{2, 2};
				if (ended)
					std::memset(room, earth, sizeof(room));
			});

		if (!long_enough)
			break;
		for (unsigned char byte : room)
			CHECK((!ended || byte == earth));
		freed += ended;
	}
	CHECK((freed > 0 || !can_step));
}

} // namespace sequences_steps_tests
