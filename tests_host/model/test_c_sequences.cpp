/* SPDX-License-Identifier: MIT */
/*
 * klock/seq.h: no copy that a C function says is whole has two halves, in words
 * or byte by byte. lib/c/sequences.cpp is compiled as it is.
 */
#include "../checker/verdict.hpp"
#include "value_worlds.hpp"

#include <klock/c_lock.hpp>

using namespace worlds;

namespace {

template <typename Word, unsigned Parts>
struct copied : some_value {
	void update() override
	{
		const u32 next = written.get() + 1;
		Word all[Parts];

		written.set(next);
		std::fill_n(all, Parts, static_cast<Word>(next));
		klock_seq_count_write(as_c(), data, all, sizeof(all));
	}
	parts read() override
	{
		Word all[Parts];

		klock_seq_count_read(as_c(), all, data, sizeof(all));
		return parts_of(all);
	}
	bool try_read(parts &seen) override
	{
		Word all[Parts];

		if (!klock_seq_count_try_read(as_c(), all, data, sizeof(all)))
			return false;
		seen = parts_of(all);
		return true;
	}

	klock::seq_count count;
	klock::atomic<Word> data[Parts];
	klock::plain<u32> written;

      private:
	static parts parts_of(const Word (&all)[Parts])
	{
		const auto [least, most] =
			std::minmax_element(all, all + Parts);

		return {static_cast<u32>(*least), static_cast<u32>(*most)};
	}
	klock_seq_count *as_c()
	{
		return reinterpret_cast<klock_seq_count *>(&count);
	}
};

using words = copied<klock::usize, 2>;
using bytes = copied<klock::u8, 3>;

} // namespace

TEST_CASE("klock/seq.h: no reader gets two halves as a whole")
{
	static_assert(sizeof(words::data) % sizeof(klock::usize) == 0);
	static_assert(sizeof(bytes::data) % sizeof(klock::usize) != 0);

	for (const char *const roles : {"lr", "ls"}) {
		const options twice{.sections = {2, 1}};

		verdict::right_by_at_least(3, values<words>(twice, roles));
		verdict::right_by_at_least(3, values<bytes>(twice, roles));
	}
}

TEST_CASE("klock/seq.h: an NMI tries over its own CPU's writer")
{
	verdict::right_by_at_least(3, values<words>({.sections = {2},
						     .interrupts = 1,
						     .non_maskable = true},
						    "l", "s"));
}
