/* SPDX-License-Identifier: MIT */
/*
 * What unlock() does after it has released the lock: nothing.
 */
#include "mortal_world.hpp"

#include <catch.hpp>

using klock::selftest::all_locks;
using namespace worlds;

namespace {

void good(const result &r)
{
	UNSCOPED_INFO(r.complete << " complete, " << r.time << " s "
				 << r.message << "\n"
				 << r.timeline);
	CHECK(r.ok());
	CHECK(r.exhaustive);
	CHECK(r.complete > 1);
}

/* All locks that so many CPUs may take, with so many sections each. */
template <unsigned Cpus>
void last_ends(const std::vector<std::vector<unsigned>> &sizes)
{
	all_locks<Cpus>::for_each([&]<typename Subject>() {
		if constexpr (Subject::capacity >= Cpus)
			for (const auto &sections : sizes) {
				INFO(Subject::name << ", " << sections.size()
						   << " CPUs, " << sections[0]
						   << " sections");
				good(ended_by_the_last<Subject>(
					{.sections = sections}));
			}
	});
}

} // namespace

TEST_CASE("lifetime: the last of two CPUs ends the lock")
{
	last_ends<2>({{1, 1}, {2, 2}, {3, 1}, {1, 3}});
}

TEST_CASE("lifetime: the last of three CPUs ends the lock")
{
	last_ends<3>({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}});
}

TEST_CASE("lifetime: the last of four CPUs ends the lock")
{
	last_ends<4>({{1, 1, 1, 1}});
}

TEST_CASE("lifetime: a tree of three levels")
{
	using klock::selftest::service;
	using klock::selftest::subject;
	using five = subject<"tournament_lock of 5", klock::tournament_lock<5>,
			     service::starvation_free>;

	/* 3 and 4 meet at the bottom, 2 above them, 0 and 1 at the root. */
	good(ended_by_the_last<five>({.sections = {1, 1, 1, 1, 1}}));
}
