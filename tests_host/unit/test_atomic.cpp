/* SPDX-License-Identifier: MIT */
/*
 * What every operation returns and leaves, for each type, on this port.
 */
#include <operations/values.hpp>

#include <catch.hpp>

using namespace klock;

TEST_CASE("atomic: every operation of every type computes what its name says")
{
	const tests::report r = tests::try_all_values<tests::KLOCK_TYPES>();

	INFO(r.operation << " of " << r.bytes << " bytes: found " << r.found
			 << ", operand " << r.operand);
	CHECK(r.failed == 0);
	CHECK(r.checked > 50'000);
}

TEST_CASE("atomic: a value that was made at compile time, and the default")
{
	static constinit atomic<int> minus{-1};
	static constinit atomic<tests::scoped> two{tests::scoped::two};
	static constinit atomic<bool> yes{true};
	const atomic<long> zero;

	CHECK(minus.fetch_sub_relaxed(1) == -1);
	CHECK(minus.load_relaxed() == -2);
	CHECK(two.load_relaxed() == tests::scoped::two);
	CHECK(yes.load_relaxed());
	CHECK(zero.load_relaxed() == 0);
}
