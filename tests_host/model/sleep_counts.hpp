/* SPDX-License-Identifier: MIT */
/*
 * sleep_counts - what the tests of the locks that sleep count
 */
#pragma once

#include "orders.hpp"
#include "sleep_worlds.hpp"

#include <catch.hpp>

namespace sleeping {

/* Executions that end, and those in which one waits for what comes elsewhere;
 * nothing is wrong, and nothing left out. */
inline void counts(u64 complete, u64 blocked, const result &r,
		   int line = __builtin_LINE())
{
	verdict::right_by(complete, r, line);
	CHECK(r.blocked == blocked);
}

inline const options one_each{.sections = {1, 1}}, two_one{.sections = {2, 1}},
	two_each{.sections = {2, 2}}, three{.sections = {1, 1, 1}};

/* The operations of two calls without a contender, as a timeline shows. */
template <typename World, typename Calls>
std::string operations(Calls calls)
{
	return model::explore<World>(
		       {.sections = {1}, .max_executions = 1},
		       [calls](World &w, unsigned) { calls(w); },
		       [](World &) { check(false, "shown"); })
		.timeline;
}

inline unsigned times(const std::string &text,
		      std::initializer_list<const char *> all)
{
	unsigned n = 0;

	for (const char *what : all)
		for (auto at = text.find(what); at != text.npos;
		     at = text.find(what, at + 1))
			n++;
	return n;
}

/* The number of read-modify-writes in a timeline. */
inline unsigned rmws(const std::string &text)
{
	return times(text, {" cas ", " add ", " exchange ", " fetch_"});
}

} // namespace sleeping
