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

using verdict::operations;
using verdict::rmws;
using verdict::times;

} // namespace sleeping
