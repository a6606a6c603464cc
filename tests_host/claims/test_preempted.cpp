/* SPDX-License-Identifier: MIT */
/*
 * Claim 6, what it comes from: the next in line does not run, and a lock that
 * is first come, first served lets nobody else in. preemption.cpp: its price.
 */
#include "scenes.hpp"

#include <klock/selftest/busted.hpp>

#include <catch.hpp>

using namespace claims;
using namespace klock::selftest;

TEST_CASE("preempted: who waits behind a sleeper waits, where order is kept")
{
	unsigned seen = 0;

	all_locks<3>::for_each([&]<typename Subject>() {
		constexpr service kept = Subject::order_of_service;
		constexpr bool decides =
			kept == service::fifo || kept == service::none;

		/* Two more than the holder; and a lock that says either. */
		if constexpr (Subject::capacity >= 3 && decides) {
			INFO(Subject::name);
			const bool entered =
				enters_past_a_sleeper<typename Subject::lock>();
			CHECK(entered == (kept == service::none));
			seen++;
		}
	});
	CHECK(seen >= all_locks<3>::size - 2);
}

TEST_CASE("preempted: a lock that serves the last first is found")
{
	CHECK(enters_past_a_sleeper<busted::lifo>());
}
