/* SPDX-License-Identifier: MIT */
/*
 * Claim 3: with test-and-set one CPU can have the lock again and again while
 * another waits; with tickets never twice.
 */
#include "rivals.hpp"
#include "scenes.hpp"

#include <catch.hpp>

#include <memory>

using namespace claims;
using namespace klock;

/* Ends long before, unless the host is at a standstill. */
constexpr auto patience = std::chrono::seconds(20);

TEST_CASE("monopoly: as often as it likes by test-and-set, once by tickets")
{
	CHECK(times_in_a_row<tas_lock>(1000) == 1000);
	CHECK(times_in_a_row<ttas_lock>(1000) == 1000);
	CHECK(times_in_a_row<backoff_ttas_lock>(1000) == 1000);
	CHECK(times_in_a_row<ticket_lock<u8>>(1000) == 1);
	CHECK(times_in_a_row<narrow_ticket_lock<2>>(1000) == 1);
}

TEST_CASE("monopoly: two cores: runs of tas_lock are 10 times ticket_lock's")
{
	auto tickets = std::make_unique<rivals<ticket_lock<u8>>>();
	auto tas = std::make_unique<rivals<tas_lock>>();

	tickets->run(patience,
		     [](const rivalry &r) { return r.contended >= 200; });
	const u64 fair = tickets->seen.max_consecutive;
	tas->run(patience, [fair](const rivalry &r) {
		return r.max_consecutive >= 10 * fair;
	});
	INFO("ticket_lock: " << tickets->seen.contended << " contended, run "
			     << fair);
	INFO("tas_lock: " << tas->seen.contended << " contended, run "
			  << tas->seen.max_consecutive);
	CHECK(tickets->seen.contended >= 200);
	CHECK(fair == 1);
	CHECK(tas->seen.max_consecutive >= 10 * fair);
}
