/* SPDX-License-Identifier: MIT */
/*
 * Claim 7: first come, first served by the doorway (bakery, ticket) is more
 * than freedom from starvation (tournament): counted bypasses.
 */
#include "crowd.hpp"
#include "scenes.hpp"

#include <klock/selftest/busted.hpp>

#include <catch.hpp>

using namespace claims;
using namespace klock;
using namespace klock::selftest;

TEST_CASE("bypass: a slow climber of tournament_lock is bypassed at will")
{
	for (unsigned times : {1u, 10u, 100u}) {
		const slow_climb r = climb_slowly<tournament_lock<4>>(times);

		CHECK(r.bypassed == times);
		/* And is not starved: at the root it is next. */
		CHECK(r.stopped_at_root);
		CHECK(r.enters);
	}
}

TEMPLATE_TEST_CASE("bypass: with the doorway behind it, nobody bypasses", "",
		   bakery_lock<4>, ticket_lock<u8>, narrow_ticket_lock<2>,
		   mcs_lock)
{
	const slow_climb r = climb_slowly<TestType>(100);

	CHECK(r.bypassed == 0);
	CHECK(r.enters);
}

TEST_CASE("bypass: counted for every lock, 4 CPUs at random, one of them fast")
{
	constexpr unsigned cpus = 4;

	all_locks<cpus>::for_each([]<typename Subject>() {
		constexpr unsigned most = Subject::capacity < cpus ? 2 : cpus;
		const crowd_result r =
			play<typename Subject::lock>({.actors = most,
						      .entries = 200,
						      .speed = 6,
						      .seed = 1});

		INFO(Subject::name << ": " << r.entries << " entries, "
				   << r.waited << " after a wait, bypassed "
				   << r.bypassed);
		CHECK(r.entries == 200);
		switch (Subject::order_of_service) {
		case service::fifo_if_all_run: /* here all do, in turns */
		case service::fifo:
			CHECK(r.bypassed == 0);
			/* Else there was nobody to bypass. */
			CHECK(r.waited >= 150);
			break;
		case service::bounded:
			CHECK(r.bypassed <= 1);
			CHECK(r.waited >= 50);
			break;
		case service::starvation_free:
		case service::none:
			CHECK(r.bypassed >= 2);
			break;
		}
	});
}

TEST_CASE("bypass: a lock that serves the last first is found")
{
	const crowd_result r = play<busted::lifo>(
		{.actors = 4, .entries = 200, .speed = 6, .seed = 1});

	CHECK(r.bypassed >= 2);
	CHECK(climb_slowly<busted::lifo>(10).bypassed >= 1);
}
