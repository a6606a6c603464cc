/* SPDX-License-Identifier: MIT */
/*
 * Claim 1: tickets of n bits serve 2^n contenders; with one more two are
 * inside. Shown at every start value of the counters.
 */
#include "overflow.hpp"

#include <catch.hpp>

using namespace claims;
using namespace klock;

namespace {

/* So many at most in this lock, from this value of its counters on. */
template <typename L>
void pass_then_break(unsigned most, unsigned served)
{
	CAPTURE(served);
	{
		stage<L> s(most, static_cast<u8>(served));
		all_come(s);
		const auto [next, owner] = counters_of<L>::in(s.bytes());
		CHECK(next == owner); /* a full circle */
		CHECK(s.count(place::inside) == 1);
		s.all_look();
		CHECK(s.count(place::inside) == 1);
		CHECK(served_one_by_one(s) == most);
		CHECK_FALSE(s.lock.is_locked());
	}
	stage<L> s(most + 1, static_cast<u8>(served));
	all_come(s);
	CHECK(s.count(place::inside) == 2);
	CHECK(s.where(0) == place::inside);
	CHECK(s.where(most) == place::inside);
}

} // namespace

TEST_CASE("overflow: 3-bit tickets: 8 contenders pass, 9 break")
{
	static_assert(narrow_ticket_lock<3>::max_contenders == 8);

	for (unsigned served = 0; served < 8; served++)
		pass_then_break<narrow_ticket_lock<3>>(8, served);
}

TEST_CASE("overflow: 2-bit tickets: 4 contenders pass, 5 break")
{
	for (unsigned served = 0; served < 4; served++)
		pass_then_break<narrow_ticket_lock<2>>(4, served);
}

TEST_CASE("overflow: 4-bit tickets: 16 contenders pass, 17 break")
{
	for (unsigned served = 0; served < 16; served++)
		pass_then_break<narrow_ticket_lock<4>>(16, served);
}

TEST_CASE("overflow: 8-bit tickets: 256 contenders pass, 257 break")
{
	static_assert(ticket_lock<u8>::max_contenders == 256);

	pass_then_break<ticket_lock<u8>>(256, 0);
}
