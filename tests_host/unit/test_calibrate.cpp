/* SPDX-License-Identifier: MIT */
/*
 * calibrate: the arithmetic, and that what it measures is in proportion.
 */
#include <klock/calibrate.hpp>
#include <klock/proportional_ticket_lock.hpp>

#include <catch.hpp>

#include <thread>

using namespace klock;

TEST_CASE("calibrate: base is a section and its handoff, in whole turns")
{
	static_assert(proportional_base(10, 100) == 10);
	static_assert(proportional_base(10, 101) == 11);
	static_assert(proportional_base(10, 100, 40) == 14);
	static_assert(proportional_base(140, 100) == 1);
	static_assert(proportional_base(140, 0) == 1);
	static_assert(proportional_base(0, 100) == 100);
	static_assert(proportional_base(1, ~u32{0}, ~u32{0}) == ~u32{0});
	static_assert(guessed_base ==
		      proportional_ticket_lock<u8>::default_base);
	SUCCEED();
}

/* Calibrates with a thread for the other CPU. */
template <typename Section>
static calibration measured(Section section)
{
	static constinit handoff_meter meter;
	std::thread other([] { meter.answer(); });
	const calibration c = calibrate(meter, section);

	other.join();
	return c;
}

TEST_CASE("calibrate: a pause, a handoff and a section cost something")
{
	const calibration c = measured([] { relax_for(8); });

	REQUIRE(c.error != calibration_error::no_clock);
	CHECK(c.relax > 0);
	CHECK(c.handoff > 0);
	CHECK(c.section > 0);
	CHECK(c.base == proportional_base(c.relax, c.handoff, c.section));
	CHECK(u64{c.base} * c.relax >= c.handoff);
}

TEST_CASE("calibrate: a longer section costs more, in proportion")
{
	/* In spin iterations: 4 and 64, and nothing but the ratio. */
	const calibration brief = measured([] { relax_for(4); });
	const calibration longer = measured([] { relax_for(64); });

	CHECK(longer.section > 8 * brief.section);
	CHECK(longer.section < 32 * brief.section);
	CHECK(longer.section > 32 * longer.relax);
	CHECK(longer.section < 128 * longer.relax);
}

TEST_CASE("calibrate: a meter can be used again, and be finished unused")
{
	static constinit handoff_meter meter;

	for (int i = 0; i < 3; i++) {
		std::thread other([] { meter.answer(); });
		if (i == 1)
			meter.finish();
		else
			CHECK(meter.measure(0) > 0);
		other.join();
	}
}
