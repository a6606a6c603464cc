/* SPDX-License-Identifier: MIT */
/*
 * wide_count - a count of 64 bits that one writes and anybody reads, on any CPU
 *
 * Where a word has 64 bits it is that word. Else two: the lower bits, and how
 * often their half was passed. The last bit of the second and the top bit of
 * the first say the same, but between the writer's two stores: who reads then
 * sees that the second is one behind. No bit is lost where a reader's two loads
 * take less time than half a range of counting, 2^31.
 *
 * Ordering:
 *	O1  get   halves.load_acquire   pairs with O2
 *	O2  step  halves.store_release  pairs with O1
 *                                      Checked: model/wide_count
 *
 *	So the lower bits, read after it, are no older than the second word.
 *
 * Context: add(): one at a time, a lock's holder. get(): any.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/types.hpp>

namespace klock {

/* Word: of half of them; narrower ones are for tests. */
template <typename Word>
struct split_count {
	[[nodiscard]] u64 get() const
	{
		const Word passed = halves.load_acquire(); /* O1 */
		const Word lower = low.load_relaxed();
		const u64 behind = (passed ^ (lower >> top)) & 1;

		return ((passed + behind) << top) + (lower & below_top);
	}

	/* In steps that a reader can follow. */
	void add(u64 more)
	{
		while (more > below_top) {
			step(below_top);
			more -= below_top;
		}
		step(more);
	}

	/* To none: a reader that looks just then may see either word's old. */
	void clear()
	{
		low.store_relaxed(0);
		halves.store_relaxed(0);
	}

      private:
	static constexpr u32 top = 8 * sizeof(Word) - 1;
	static constexpr Word below_top = static_cast<Word>(~Word{0}) >> 1;

	void step(u64 more)
	{
		const u64 now = get() + more;

		low.store_relaxed(static_cast<Word>(now));
		halves.store_release(static_cast<Word>(now >> top)); /* O2 */
	}

	atomic<Word> low;
	/* Multiples of 2^top that are counted. */
	atomic<Word> halves;
};

/* Word: of all 64. */
template <typename Word>
struct whole_count {
	[[nodiscard]] u64 get() const { return count.load_relaxed(); }
	void add(u64 more) { count.store_relaxed(count.load_relaxed() + more); }
	void clear() { count.store_relaxed(0); }

      private:
	atomic<Word> count;
};

namespace detail {
template <usize Bytes>
struct count_for {
	using type = split_count<u32>;
};
template <>
struct count_for<8> {
	using type = whole_count<u64>;
};

/* As much of it as a word holds. */
template <typename Word>
Word at_most(u64 number)
{
	constexpr Word most = ~Word{0};

	return number < most ? static_cast<Word>(number) : most;
}
} // namespace detail

using wide_count = detail::count_for<sizeof(usize)>::type;

} // namespace klock
