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
		constexpr bool passes = kept == service::none ||
					kept == service::fifo_if_all_run;
		constexpr bool decides = kept == service::fifo || passes;

		/* Two more than the holder; and a lock that says either. */
		if constexpr (Subject::capacity >= 3 && decides) {
			INFO(Subject::name);
			const bool entered =
				enters_past_a_sleeper<typename Subject::lock>();
			CHECK(entered == passes);
			seen++;
		}
	});
	CHECK(seen >= all_locks<3>::size - 2);
}

TEST_CASE("preempted: a time slice is lost to all, or to one")
{
	constexpr unsigned slice = 2000;
	const unsigned unfair = sections_in_a_slice<klock::ttas_lock>(slice);

	CHECK(unfair >= slice / 2 - 1);
	CHECK(sections_in_a_slice<klock::ticket_lock<klock::u8>>(slice) == 0);
	CHECK(sections_in_a_slice<klock::mcs_lock>(slice) == 0);
	/* Some looks in vain, once. */
	CHECK(sections_in_a_slice<klock::preemptable_ticket_lock<klock::u8>>(
		      slice) >= 0.95 * unfair);
}

TEST_CASE("preempted: a lock that serves the last first is found")
{
	CHECK(enters_past_a_sleeper<busted::lifo>());
}
