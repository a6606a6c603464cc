/* SPDX-License-Identifier: MIT */
/*
 * A trial's frame counts each section, the one that nobody had time for, too;
 * and tickets that are passed over are counted, and nothing else.
 */
#include "bench.hpp"

#include <cstdio>

using namespace bench;
using klock::u8;

namespace {

int failures;

void expect(bool holds, const char *what)
{
	if (holds)
		return;
	std::printf("not so: %s\n", what);
	failures++;
}

/* Sections until the whistle, which is blown within the last of them. */
tally sections_until(u64 last)
{
	whistle end;
	tally seen;
	u64 made = 0;

	end.end = ~u64{0};
	end.blown = last == 0;
	until(end, {.section = 0, .think = 0}, 0, seen, [&] {
		if (++made == last)
			end.blown = true;
	});
	expect(seen.acquisitions == made, "what is counted was made");
	return seen;
}

/* What the holders of a lock find in turn, and how many it passed over. */
void passed_over(const char *what, const std::vector<u8> &held,
		 const std::vector<u64> &passed)
{
	turn_watch<u8> turn;

	for (std::size_t i = 0; i < held.size(); i++)
		expect(turn.note(held[i]) == passed[i], what);
}

void turns()
{
	passed_over("in turn", {1, 3, 5}, {0, 0, 0});
	passed_over("without a ticket", {0xff, 0xff, 1, 1}, {0, 0, 0, 0});
	passed_over("tickets 0 and 1 passed over", {5, 7}, {2, 0});
	passed_over("and late ones", {5, 5, 5, 9}, {2, 0, 0, 1});
	passed_over("the turn wraps", {61, 121, 181, 251, 253, 255, 1, 5},
		    {30, 29, 29, 34, 0, 0, 0, 1});
}

/* A lock for which tickets are out whose owners never come. */
template <typename Counter>
void real_lock()
{
	passing_contest<Counter> contest;
	Counter out = 3;

	contest.lock.lock();
	contest.enter(0, 0);
	contest.lock.unlock();
	expect(contest.found.passed == 0, "free: nobody is passed over");
	std::memcpy(static_cast<void *>(&contest.lock), &out, sizeof(out));
	contest.lock.lock();
	contest.enter(1, 0);
	expect(contest.found.passed == 3, "three that do not come");
	contest.lock.unlock();
	contest.lock.lock();
	contest.enter(1, 0);
	contest.lock.unlock();
	expect(contest.found.waits.empty(), "the one that passed was not late");
	contest.lock.lock();
	contest.enter(0, 0);
	contest.lock.unlock();
	expect(contest.found.passed == 3 && contest.found.waits.size() == 1,
	       "the other was");
}

void sums()
{
	overtakings one, all;

	one.passed = 2;
	one.waits = {7, 9};
	all.add(one, 500, true);
	all.add(one, 1500, false);
	expect(all.per_thousand() > 1.99 && all.per_thousand() < 2.01,
	       "4 of 2,000");
	expect(all.passed_disturbed == 2 && all.waits.size() == 4,
	       "half of them disturbed");
}

} // namespace

int main()
{
	expect(sections_until(3).acquisitions == 3, "the whistle ends it");
	/* Its core was away for the whole trial: without a rate, if none. */
	const tally late = sections_until(0);
	expect(late.acquisitions == 1, "one section, though it was over");
	expect(late.end >= late.start && late.start != 0, "and a time");
	turns();
	real_lock<u8>();
	real_lock<klock::u16>();
	sums();
	return failures != 0;
}
