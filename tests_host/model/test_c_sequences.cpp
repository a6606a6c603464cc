/* SPDX-License-Identifier: MIT */
/*
 * klock/seq.h: no copy that a C function says is whole has two halves, in words
 * or byte by byte. lib/c/sequences.cpp is compiled as it is.
 */
#include "../checker/verdict.hpp"

#include <klock/c_lock.hpp>

#include <model/model.hpp>

#include <catch.hpp>

using model::check;
using model::options;
using model::result;

namespace {

/* Each write makes all parts the same, one more than the last. */
template <typename Word, unsigned Parts>
struct copied {
	klock::seq_count count;
	klock::atomic<Word> data[Parts];
	klock::plain<unsigned> before, written;

	void write()
	{
		const unsigned next = written.get() + 1;
		Word all[Parts];

		for (Word &one : all)
			one = static_cast<Word>(next);
		written.set(next);
		if (next == 1)
			before.set(1);
		klock_seq_count_write(as_c(), data, all, sizeof(all));
	}

	/* A copy that is said to be whole is, and shows what came before. */
	void read(bool tries, bool is_writer)
	{
		Word all[Parts];

		if (!tries)
			klock_seq_count_read(as_c(), all, data, sizeof(all));
		else if (!klock_seq_count_try_read(as_c(), all, data,
						   sizeof(all)))
			return;
		for (const Word one : all)
			check(one == all[0], "two halves of two writes");
		if (!is_writer && all[0] != 0)
			(void)before.get();
	}

      private:
	klock_seq_count *as_c()
	{
		return reinterpret_cast<klock_seq_count *>(&count);
	}
};

using words = copied<klock::usize, 2>;
using bytes = copied<klock::u8, 3>;

template <typename World>
result copies(std::vector<unsigned> sections, bool tries)
{
	return model::explore<World>({.sections = sections},
				     [tries](World &w, unsigned cpu) {
					     if (cpu == 0)
						     w.write();
					     else
						     w.read(tries, false);
				     });
}

} // namespace

TEST_CASE("klock/seq.h: no reader gets two halves as a whole")
{
	static_assert(sizeof(words::data) % sizeof(klock::usize) == 0);
	static_assert(sizeof(bytes::data) % sizeof(klock::usize) != 0);

	for (const bool tries : {false, true}) {
		verdict::right_by_at_least(3, copies<words>({2, 1}, tries));
		verdict::right_by_at_least(3, copies<bytes>({2, 1}, tries));
	}
}

TEST_CASE("klock/seq.h: an NMI tries over its own CPU's writer")
{
	const result r = model::explore<words>(
		{.sections = {2}, .interrupts = 1, .non_maskable = true},
		[](words &w, unsigned) { w.write(); }, [](words &) {},
		[](words &w, unsigned) { w.read(true, true); });

	verdict::right_by_at_least(3, r);
}
