/* SPDX-License-Identifier: MIT */
/*
 * Claim 2: the two timelines of source text 003, expected as data, played for
 * real.
 */
#include "scripts.hpp"

#include <catch.hpp>

using namespace claims;
using namespace klock;

namespace {

/* Time, then who, what, next_ticket, now_serving. */
const std::vector<row> fifo = {
	/* t1 */ {A, "takes 0", {1, 0}},
	/* t2 */ {A, "is inside", {1, 0}},
	/* t3 */ {B, "takes 1", {2, 0}},
	/* t4 */ {B, "waits", {2, 0}},
	/* t5 */ {C, "takes 2", {3, 0}},
	/* t6 */ {C, "waits", {3, 0}},
	/* t7 */ {A, "is done", {3, 0}},
	/* t8 */ {A, "releases", {3, 1}},
	/* t9 */ {B, "enters", {3, 1}},
	/* t10 */ {B, "is done", {3, 1}},
	/* t11 */ {B, "releases", {3, 2}},
	/* t12 */ {C, "enters", {3, 2}},
};

/* Time, then who, what, flag. */
const std::vector<row> starvation = {
	/* t1 */ {A, "finds 0, has it", {1}},
	/* t2 */ {A, "is inside", {1}},
	/* t3 */ {B, "finds 1", {1}},
	/* t4 */ {B, "waits", {1}},
	/* t5 */ {C, "finds 1", {1}},
	/* t6 */ {C, "waits", {1}},
	/* t7 */ {A, "releases", {0}},
	/* t8 */ {A, "finds 0, has it", {1}},
	/* t9 */ {A, "is inside", {1}},
	/* t10 */ {A, "releases", {0}},
	/* t11 */ {A, "finds 0, has it", {1}},
	/* t12 */ {A, "is inside", {1}},
	/* t13 */ {B, "looks again", {1}},
	/* t14 */ {B, "waits", {1}},
	/* t15 */ {C, "looks again", {1}},
	/* t16 */ {C, "waits", {1}},
	/* t17 */ {A, "releases", {0}},
	/* t18 */ {A, "finds 0, has it", {1}},
};

/* The schedule of starvation, in a ticket lock: A queues, B has it. */
const std::vector<row> no_starvation = {
	/* t1 */ {A, "takes 0", {1, 0}},
	/* t2 */ {A, "is inside", {1, 0}},
	/* t3 */ {B, "takes 1", {2, 0}},
	/* t4 */ {B, "waits", {2, 0}},
	/* t5 */ {C, "takes 2", {3, 0}},
	/* t6 */ {C, "waits", {3, 0}},
	/* t7 */ {A, "releases", {3, 1}},
	/* t8 */ {A, "takes 3", {4, 1}},
	/* t9 */ {A, "waits", {4, 1}},
	/* t10 */ {A, "looks again", {4, 1}},
	/* t11 */ {A, "looks again", {4, 1}},
	/* t12 */ {A, "waits", {4, 1}},
	/* t13 */ {B, "enters", {4, 1}},
	/* t14 */ {B, "is inside", {4, 1}},
	/* t15 */ {C, "looks again", {4, 1}},
	/* t16 */ {C, "waits", {4, 1}},
	/* t17 */ {A, "looks again", {4, 1}},
	/* t18 */ {A, "looks again", {4, 1}},
};

void same(const std::vector<row> &found, const std::vector<row> &expected)
{
	REQUIRE(found.size() == expected.size());
	for (usize i = 0; i < found.size(); i++) {
		INFO("t" << i + 1);
		CHECK(found[i].who == expected[i].who);
		CHECK(found[i].cell == expected[i].cell);
		CHECK(found[i].values == expected[i].values);
	}
}

} // namespace

TEMPLATE_TEST_CASE("timeline: ticket_lock serves A, B, C as they came", "",
		   ticket_lock<u8>, ticket_lock<u16>, ticket_lock<u32>)
{
	same(play<TestType>(one_after_another, 3), fifo);
}

TEST_CASE("timeline: ticket_lock: who looks when makes no difference")
{
	same(play<ticket_lock<u8>>(one_after_another, 3,
				   others::look_all_the_time),
	     fifo);
}

TEST_CASE("timeline: tas_lock lets A come back while B and C starve")
{
	same(play<tas_lock>(one_comes_back, 3), starvation);
}

TEST_CASE("timeline: ticket_lock, in the same schedule, does not")
{
	same(play<ticket_lock<u8>>(one_comes_back, 3), no_starvation);
}
