/* SPDX-License-Identifier: MIT */
/*
 * The hosted port's four functions about threads.
 */
#include <klock/host_parking.hpp>

#include "parking_threads.hpp"

#include <catch.hpp>

TEST_CASE("host_parking: permits as the contract says", "[parking]")
{
	static constinit klock::selftest::parking_test test{};
	const klock::selftest::parking_world world = {
		native::start_thread, native::pause_thread, 20000};

	CHECK(test.run(world) == nullptr);
	CHECK(test.run_timed(world) == nullptr);
}
