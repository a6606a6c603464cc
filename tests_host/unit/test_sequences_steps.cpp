/* SPDX-License-Identifier: MIT */
/*
 * seq_lock and seq_latch between any two instructions of a writer, or of a
 * reader, where the host lets a test step.
 */
#include <klock/selftest/busted_sequences.hpp>
#include <klock/seq_latch.hpp>
#include <klock/seq_lock.hpp>

#include "stepper.hpp"

#include <catch.hpp>

#include <cstring>
#include <new>

using namespace klock;
using namespace unit;

namespace {

struct clock_value {
	u64 seconds;
	u32 part;

	friend bool operator==(const clock_value &,
			       const clock_value &) = default;
};

} // namespace

TEST_CASE(
	"seq_lock: between any two instructions of a write, nobody reads half")
{
	if (!can_step)
		return;
	unsigned long refused = 0, old_ones = 0, new_ones = 0;

	for (unsigned long n = 1;; n++) {
		seq_lock<clock_value> lock(clock_value{1, 1});
		clock_value seen{};
		bool read = false;
		const bool long_enough = with_intrusion(
			n,
			[&] {
				lock.write({2, 2});
			},
			[&] { read = lock.try_read(seen); });

		if (!long_enough)
			break;
		if (!read)
			refused++;
		else if (seen == clock_value{1, 1})
			old_ones++;
		else if (seen == clock_value{2, 2})
			new_ones++;
		else
			FAIL("half a value after " << n << " instructions");
	}
	CHECK(refused > 0);
	CHECK(old_ones > 0);
	CHECK(new_ones > 0);
}

TEST_CASE("seq_lock: bypass: a writer makes a reader begin again")
{
	if (!can_step)
		return;
	unsigned long old_ones = 0, new_ones = 0;

	for (unsigned long n = 1;; n++) {
		seq_lock<clock_value> lock(clock_value{1, 1});
		clock_value seen{};
		const bool long_enough = with_intrusion(
			n, [&] { seen = lock.read(); },
			[&] {
				lock.write({2, 2});
			});

		if (!long_enough)
			break;
		old_ones += seen == clock_value{1, 1};
		new_ones += seen == clock_value{2, 2};
		CHECK(old_ones + new_ones == n);
	}
	CHECK(old_ones > 0);
	CHECK(new_ones > 0);
}

/* The same clients find what a seqlock can get wrong in turns. */
TEST_CASE("seq_lock: a torn value is found between two instructions")
{
	using selftest::busted_seq_lock;
	using selftest::seq_mistake;
	using no_look =
		busted_seq_lock<clock_value, seq_mistake::no_second_look>;
	using while_odd =
		busted_seq_lock<clock_value, seq_mistake::reads_while_odd>;
	const clock_value before{1, 1}, after{2, 2};
	bool no_look_torn = !can_step, while_odd_torn = !can_step;
	const auto torn = [&](const clock_value &seen) {
		return !(seen == before) && !(seen == after);
	};

	for (unsigned long n = 1;; n++) {
		no_look lock(before);
		clock_value seen = before;

		if (!with_intrusion(
			    n, [&] { seen = lock.read(); },
			    [&] { lock.write(after); }))
			break;
		no_look_torn |= torn(seen);
	}
	for (unsigned long n = 1;; n++) {
		while_odd lock(before);
		clock_value seen = before;

		if (!with_intrusion(
			    n, [&] { lock.write(after); },
			    [&] { seen = lock.read(); }))
			break;
		while_odd_torn |= torn(seen);
	}
	CHECK(no_look_torn);
	CHECK(while_odd_torn);
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

TEST_CASE("seq_latch: between any two instructions of a write, a whole value")
{
	if (!can_step)
		return;
	unsigned long old_ones = 0, new_ones = 0;

	for (unsigned long n = 1;; n++) {
		seq_latch<clock_value> latch(clock_value{1, 1});
		clock_value seen{};
		const bool long_enough = with_intrusion(
			n,
			[&] {
				latch.write({2, 2});
			},
			[&] { seen = latch.read(); });

		if (!long_enough)
			break;
		old_ones += seen == clock_value{1, 1};
		new_ones += seen == clock_value{2, 2};
		CHECK(old_ones + new_ones == n);
	}
	CHECK(old_ones > 0);
	CHECK(new_ones > 0);
}
