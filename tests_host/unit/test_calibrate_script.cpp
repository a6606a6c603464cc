/* SPDX-License-Identifier: MIT */
/*
 * calibrate: what it makes of what its clock says. scripted/ has the clock.
 */
#include <klock/calibrate.hpp>

#include <catch.hpp>

#include <thread>

using namespace klock;
using klock::arch::clock_in_use;

/*
 * The times that calibrate measures, in its order: nothing, pauses, a handoff
 * there and back, a critical section. Each figure is the least of its
 * measurements, some of which take longer.
 */
static u64 script(u32 n)
{
	static constexpr u64 least[] = {20, 20 + 10 * detail::relaxes_at_once,
					20 + 300, 20 + 70};

	return least[n / detail::measurements] + n % 7;
}

/* Calibrates, with a thread for the other CPU, which must return. */
static calibration calibrated(bool usable, bool steady)
{
	static constinit handoff_meter meter;
	std::thread other([] { meter.answer(); });

	clock_in_use = {usable, steady, script, 0};
	const calibration c = calibrate(meter, [] {});
	other.join();
	return c;
}

TEST_CASE("calibrate: each figure is what one costs, less the clock's time")
{
	const calibration c = calibrated(true, true);

	CHECK(c.error == calibration_error::none);
	CHECK(c.relax == 10);
	/* There and back are two. */
	CHECK(c.handoff == 150);
	CHECK(c.section == 70);
	CHECK(c.base == 22);
	CHECK(clock_in_use.measured == 4 * detail::measurements);
}

TEST_CASE("calibrate: a clock whose rate may change is used, and said")
{
	const calibration c = calibrated(true, false);

	CHECK(c.error == calibration_error::unsteady_clock);
	CHECK(c.handoff == 150);
	CHECK(c.base == 22);
}

TEST_CASE(
	"calibrate: without a clock base is a guess, and no figure is made up")
{
	const calibration c = calibrated(false, true);

	CHECK(c.error == calibration_error::no_clock);
	CHECK(c.base == guessed_base);
	CHECK(c.base > 0);
	CHECK(c.relax == 0);
	CHECK(c.handoff == 0);
	CHECK(c.section == 0);
	CHECK(clock_in_use.measured == 0);
}
