/* SPDX-License-Identifier: MIT */
/*
 * histogram - how often which length of time occurred, in 1.5 KiB
 *
 * Eight buckets for each power of two: a value read back is at most an eighth
 * off, from a cycle to days. No heap, no division. One CPU adds at a time.
 */
#pragma once

#include <klock/types.hpp>

namespace klock::selftest {

struct histogram {
	static constexpr unsigned buckets = 368;

	void clear()
	{
		for (unsigned i = 0; i < buckets; i++)
			counts[i] = 0;
		total = 0;
		least = ~u64{0};
		greatest = 0;
	}

	void add(u64 value)
	{
		counts[bucket_of(value)]++;
		total++;
		least = value < least ? value : least;
		greatest = value > greatest ? value : greatest;
	}

	void merge(const histogram &other)
	{
		for (unsigned i = 0; i < buckets; i++)
			counts[i] += other.counts[i];
		total += other.total;
		least = other.least < least ? other.least : least;
		greatest =
			other.greatest > greatest ? other.greatest : greatest;
	}

	[[nodiscard]] u64 count() const { return total; }
	[[nodiscard]] u32 count(unsigned bucket) const
	{
		return counts[bucket];
	}

	/* Exact; 0 where nothing was added. */
	[[nodiscard]] u64 min() const { return total ? least : 0; }
	[[nodiscard]] u64 max() const { return greatest; }

	/*
	 * The value below which so many thousandths lie: 500 is the median.
	 * The upper end of its bucket, and never above max().
	 */
	[[nodiscard]] u64 permille(u32 share) const
	{
		/* total * share / 1000, without a division: compare products */
		u64 seen = 0;

		for (unsigned i = 0; i < buckets; i++) {
			seen += counts[i];
			if (seen && seen * 1000 >= total * share) {
				const u64 end = lower_end(i + 1) - 1;
				return end < greatest ? end : greatest;
			}
		}
		return greatest;
	}

	/* By steps: where a CPU has no instruction, the builtin is a library's.
	 */
	static constexpr unsigned highest_bit(u64 value)
	{
		unsigned power = 0;

		for (unsigned step = 32; step; step /= 2) {
			if (!(value >> step))
				continue;
			value >>= step;
			power += step;
		}
		return power;
	}

	static constexpr unsigned bucket_of(u64 value)
	{
		if (value < 8)
			return static_cast<unsigned>(value);
		const unsigned power = highest_bit(value);
		const unsigned bucket =
			(power - 2) * 8 + ((value >> (power - 3)) & 7);

		return bucket < buckets ? bucket : buckets - 1;
	}

	/* The least value of a bucket; of `buckets`: the end of the last. */
	static constexpr u64 lower_end(unsigned bucket)
	{
		if (bucket < 8)
			return bucket;
		return u64{8 + bucket % 8} << (bucket / 8 - 1);
	}

      private:
	u32 counts[buckets] = {};
	u64 total = 0;
	u64 least = ~u64{0};
	u64 greatest = 0;
};

static_assert(histogram::bucket_of(7) == 7 && histogram::bucket_of(8) == 8);
static_assert(histogram::lower_end(8) == 8 && histogram::lower_end(16) == 16);
static_assert(histogram::bucket_of(~u64{0}) == histogram::buckets - 1);
static_assert(
	histogram::bucket_of(1000) ==
	histogram::bucket_of(histogram::lower_end(histogram::bucket_of(1000))));

} // namespace klock::selftest
