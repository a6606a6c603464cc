/* SPDX-License-Identifier: MIT */
/*
 * What every operation returns and leaves, on a simulated CPU.
 */
#include <operations/values.hpp>
#include <sim/sim.hpp>

#include <catch.hpp>

using namespace klock;

TEST_CASE("operations: a simulated CPU computes what the name says")
{
	sim::simulator s(sim::xeon_8180, 1);
	tests::report r;

	const auto out = s.run([&](unsigned) { r = tests::try_all_values(); });
	INFO(out.stuck);
	CHECK(out.finished);
	INFO(r.operation << " of " << r.bytes << " bytes: found " << r.found
			 << ", operand " << r.operand);
	CHECK(r.failed == 0);
	CHECK(r.checked > 100'000);
}
