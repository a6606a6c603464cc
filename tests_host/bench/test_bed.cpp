/* SPDX-License-Identifier: MIT */
/*
 * A trial's frame counts each section, the one that nobody had time for, too.
 */
#include "bed.hpp"

#include <cstdio>

using namespace bench;

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

} // namespace

int main()
{
	expect(sections_until(3).acquisitions == 3, "the whistle ends it");
	/* Its core was away for the whole trial: without a rate, if none. */
	const tally late = sections_until(0);
	expect(late.acquisitions == 1, "one section, though it was over");
	expect(late.end >= late.start && late.start != 0, "and a time");
	return failures != 0;
}
