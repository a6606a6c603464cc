/* SPDX-License-Identifier: MIT */
/*
 * lock_cases - what the test cases over all locks share
 */
#pragma once

#include "lock_worlds.hpp"

#include <catch.hpp>

namespace worlds {

inline void good(const result &r)
{
	UNSCOPED_INFO(r.complete << " complete, " << r.blocked << " blocked, "
				 << r.time << " s " << r.message << "\n"
				 << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete > 1);
}

/* For each lock that so many CPUs may take. */
template <unsigned Cpus, typename Visit>
void for_each_lock(Visit visit)
{
	for (const kind &k : tested<Cpus>())
		if (k.capacity >= Cpus) {
			INFO(k.name << ", " << Cpus << " CPUs");
			visit(k);
		}
}

} // namespace worlds
