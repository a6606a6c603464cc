/* SPDX-License-Identifier: MIT */
/*
 * Waits against cases worked by hand, and runs that cannot end. Figures are
 * round_figures': hit 1, PAUSE 10, memory 200, owned 60, invalidate 3.
 */
#include "hand.hpp"

#include <sim/measure.hpp>

#include <catch.hpp>

using namespace klock;
using namespace sim;

TEST_CASE("waits: a parked CPU looks again when it would have looked")
{
	/* First look: 0 to 200. Then at 210, 221, 232, ... 496, 507 ... */
	const u64 written = GENERATE(497u, 500u, 507u);
	world<padded> x;
	simulator s(round_figures, 2);
	u64 freed = 0;

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_eq_relaxed(1);
			freed = now();
			return;
		}
		sleep_until(written);
		x->a.store_relaxed(1);
	});
	/* It asks at 507, behind the store, which takes 63. */
	CHECK(freed == written + 63 + 60);
	CHECK(s.of(0).misses == 2);
	CHECK(s.of(0).loads == 1 + 27 + 1);
	CHECK(s.of(0).received == 1);
}

TEST_CASE("waits: a neighbour's write wakes a waiter, in vain")
{
	world<packed> x;
	simulator s(round_figures, 2);

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_eq_relaxed(1);
			return;
		}
		for (unsigned i = 1; i <= 5; i++) {
			sleep_until(1000 * i);
			x->b.store_relaxed(i);
		}
		sleep_until(9000);
		x->a.store_relaxed(1);
	});
	CHECK(s.of(0).misses == 1 + 5 + 1);
}

TEST_CASE("waits: await_exchange owns the line between two tries")
{
	world<padded> x;
	simulator s(round_figures, 2);

	x->a.store_relaxed(1);
	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_exchange_acquire(
				1, [](u32 found) { return found == 0; });
			return;
		}
		sleep_until(10'000);
		(void)x->a.load_relaxed(); /* takes the right to write */
		sleep_until(20'000);
		x->a.store_relaxed(0);
	});
	/* From memory; after the read; after the store. */
	CHECK(s.of(0).misses == 3);
	CHECK(s.of(0).upgrades == 1);
	/* A try takes 16 cycles: hit, read-modify-write, PAUSE. */
	CHECK(s.of(0).rmws > 20'000 / 16 - 30);
	CHECK(s.of(0).rmws < 20'000 / 16);
}

TEST_CASE("waits: await_either ends by either of two lines")
{
	const bool second = GENERATE(false, true);
	world<padded> x;
	simulator s(round_figures, 2);
	u64 freed = 0;

	const outcome out = s.run([&](unsigned cpu) {
		const auto is_1 = [](u32 v) { return v == 1; };

		if (cpu == 0) {
			x->a.await_either_acquire(is_1, x->b, is_1);
			freed = now();
			return;
		}
		sleep_until(5000);
		(second ? x->b : x->a).store_relaxed(1);
	});
	CHECK(out.finished);
	CHECK(freed >= 5000 + 63 + 60);
	CHECK(freed < 5000 + 63 + 60 + 13); /* a turn: two hits, a PAUSE */
	CHECK(s.of(0).misses == 3);
}

TEST_CASE("waits: a pace is kept, whatever happens to the line")
{
	world<padded> x;
	simulator s(round_figures, 2);
	u64 freed = 0;
	u32 asked = 0;

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			x->a.await_paced_relaxed([](u32 v) { return v == 1; },
						 [&](u32) {
							 asked++;
							 return 100u;
						 });
			freed = now();
			return;
		}
		sleep_until(1000);
		x->a.store_relaxed(1);
	});
	/* Looks at 0 (200), at 1200: the pause of 1000 is slept to its end. */
	CHECK(asked == 1);
	CHECK(freed == 200 + 1000 + 60);
}

TEST_CASE("waits: patience is counted in looks, and held up by nothing else")
{
	world<packed> x;
	simulator s(round_figures, 2);
	u64 ended = 0;
	u32 found = 9;
	/* 1 may be looked at five times in vain; 0 ends by its change alone. */
	const auto patience = [](u32 v) { return v == 1 ? 5u : endless; };

	SECTION("parked while it is endless, then five looks")
	{
		s.run([&](unsigned cpu) {
			if (cpu == 0) {
				found = x->a.await_patient_relaxed(patience);
				ended = now();
				return;
			}
			sleep_until(5000);
			x->a.store_relaxed(1);
		});
		CHECK(found == 1);
		/* The look that finds it, and five turns of 10 and a hit. */
		CHECK(ended >= 5000 + 63 + 60 + 5 * 11);
		CHECK(ended < 5000 + 63 + 60 + 6 * 11);
		CHECK(s.of(0).misses == 2);
	}
	SECTION("a neighbour's write is no change of the value")
	{
		x->a.store_relaxed(1);
		s.run([&](unsigned cpu) {
			if (cpu == 0) {
				found = x->a.await_patient_relaxed(patience);
				ended = now();
				return;
			}
			sleep_until(220);
			x->b.store_relaxed(1);
		});
		CHECK(found == 1);
		CHECK(s.of(0).loads == 1 + 5);
		CHECK(s.of(0).misses == 2);
	}
}

TEST_CASE("waits: a deadline is one of the CPU's own clock")
{
	world<packed> x;
	simulator s(round_figures, 2);
	u64 ended = 0, began = 0;
	u32 found = 9;
	const u64 written = GENERATE(u64{300}, u64{9000});

	s.run([&](unsigned cpu) {
		if (cpu == 0) {
			began = now();
			found = x->a.await_until_acquire(
				[](u32 v) { return v == 1; }, 1000);
			ended = now();
			return;
		}
		sleep_until(written);
		x->a.store_relaxed(1);
	});
	CHECK(began < 1000);
	CHECK(found == (written < 1000));
	CHECK((ended >= 1000) == (written > 1000));
	/* The look that finds it out ends within a turn of 11. */
	CHECK(ended < 1000 + 11);
}

TEST_CASE("waits: everybody parked is a report of who waits for what")
{
	world<padded> x;
	simulator s(round_figures, 3);

	const outcome out = s.run([&](unsigned cpu) {
		if (cpu == 0)
			x->a.await_eq_relaxed(7);
		if (cpu == 1)
			x->b.await_exchange_acquire(1,
						    [](u32) { return false; });
	});
	INFO(out.stuck);
	CHECK_FALSE(out.finished);
	CHECK(contains(out.stuck, "nobody is left to end it"));
	CHECK(contains(out.stuck, "cpu 0 reads line 1 (E in its cache"));
	CHECK(contains(out.stuck, "cpu 1 exchanges line 2 (M"));
	CHECK(contains(out.stuck, "test_waits.cpp:"));
	CHECK_FALSE(contains(out.stuck, "cpu 2"));
}

namespace {

/* Two that never let go: one waits by reading, one by exchanging. */
struct reader {
	void lock()
	{
		taken.await_eq_relaxed(0);
		taken.store_relaxed(1);
	}
	void unlock() {}

	atomic<u8> taken;
};

struct exchanger : tas_lock {
	void unlock() {}
};

} // namespace

TEST_CASE("waits: a lock that nobody lets go is found, parked or trying")
{
	const workload w = {.cpus = 8, .patience = 1'000'000};

	SECTION("by reading")
	{
		const figures f = measure<reader>("", round_figures, w);

		CHECK(contains(f.stuck, "nobody is left to end it"));
	}
	SECTION("by exchanging, each from each other, for ever")
	{
		const figures f = measure<exchanger>("", round_figures, w);

		CHECK(contains(f.stuck, "no progress"));
		CHECK(contains(f.stuck, "exchanges line"));
	}
}
