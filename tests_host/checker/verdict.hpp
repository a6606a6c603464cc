/* SPDX-License-Identifier: MIT */
/*
 * verdict - what a test asks of an exploration, and on which line it asked
 */
#pragma once

#include <model/model.hpp>

#include <catch.hpp>

namespace verdict {

using klock::u64;
using model::result;

/* Checks that no bug was found and nothing left out, in so many executions. */
inline void between(u64 least, u64 most, const result &r, int line)
{
	INFO("line " << line << ": " << r.complete << " complete, " << r.blocked
		     << " blocked, " << r.time << " s " << r.message << r.limit
		     << "\n"
		     << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete >= least);
	CHECK(r.complete <= most);
}

inline void right_by(u64 complete, const result &r, int line = __builtin_LINE())
{
	between(complete, complete, r, line);
}

inline void right_by_at_least(u64 complete, const result &r,
			      int line = __builtin_LINE())
{
	between(complete, ~u64{0}, r, line);
}

inline void right(const result &r, int line = __builtin_LINE())
{
	between(0, ~u64{0}, r, line);
}

/* Checks that there is no fault, in more than one execution. */
inline void good(const result &r, int line = __builtin_LINE())
{
	between(2, ~u64{0}, r, line);
}

} // namespace verdict
