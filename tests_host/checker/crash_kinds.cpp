/* SPDX-License-Identifier: MIT */
/*
 * Prints each kind of crash, and whether it is found: "found", or what is
 * missing. With an argument it ends in a copy that is too long.
 * crash_table.py compiles it in each way.
 */
#include "crash_kinds.hpp"

#include <cstdio>

static const char *missing(const crashes::kind &k)
{
	const auto bad = crashes::explore(k, std::memory_order_relaxed);
	const auto good = crashes::explore(k, std::memory_order_release);

	if (bad.found != model::bug::crash)
		return "not found";
	if (bad.message.find(k.told) == bad.message.npos)
		return "another crash";
	if (bad.timeline.find("reads the start") == bad.timeline.npos)
		return "not what was read";
	if (!crashes::line_of_crash(bad))
		return "no line";
	return good.ok() && good.exhaustive && good.complete ? "found"
							     : "false alarm";
}

int main(int argc, char **)
{
#if defined(CRASH_ADDRESSES)
	if (argc > 1)
		(void)crashes::explore(crashes::deadly, crashes::relaxed);
#else
	(void)argc;
#endif
	for (const crashes::kind &k : crashes::kinds)
		std::printf("%s\t%s\n", k.name, missing(k));
}
