/* SPDX-License-Identifier: MIT */
/*
 * calibrate - measures a pause, a handoff and a critical section on this
 * machine
 *
 * proportional_ticket_lock pauses `base` spin iterations for each waiter ahead,
 * which should be as long as that waiter's section and handoff. A spin
 * iteration takes 10 cycles on one CPU and 140 on another, so base is measured
 * at start-up:
 *
 *	constinit klock::handoff_meter meter;
 *
 *	meter.answer();				on CPU 1
 *
 *	const klock::calibration c = klock::calibrate(meter);	on CPU 0
 *	lock.set_base(c.base);
 *
 * Each figure is the least of many, as disturbances (interrupts, misses, a
 * hypervisor) make a measurement longer, never shorter. One error remains: if
 * the clock's rate is fixed and the CPUs' is not, the CPUs may run at another
 * frequency later.
 *
 * Source: the idea of base, Mellor-Crummey and Scott, ACM TOCS 9(1), 1991,
 * section 2.2; the clock, the port's cpu.hpp.
 * Context: start-up, interrupts off or few, the caller stays on its CPU.
 *
 * Ordering:
 *	O1  measure  ball.store_release      pairs with O4
 *	O2  measure  ball.await_eq_acquire   pairs with O5
 *	O3  finish   ball.store_release      pairs with O4
 *	O4  answer   ball.await_acquire      pairs with O1, O3
 *	O5  answer   ball.store_release      pairs with O2, O6
 *	O6  finish   ball.await_eq_acquire   pairs with O5
 *                                      Checked: model/meter
 *
 *	The orders are those of a lock's handoff: they are what is measured.
 *	O6: after finish() the meter may be freed.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace klock {

enum class calibration_error : u8 {
	none,
	no_clock, /* this CPU cannot measure: figures are 0, base a guess */
	unsteady_clock, /* measured, but the clock's rate may change */
};

/* The base without a clock: the default of proportional_ticket_lock. */
inline constexpr u32 guessed_base = 64;

/* The result; all but base is in the clock's unit. */
struct calibration {
	u32 relax;   /* one turn of cpu_relax(); 0: not measured */
	u32 handoff; /* from a store on one CPU to its being seen on another */
	u32 section; /* the section that was given, else 0 */
	u32 base;    /* turns: for proportional_ticket_lock::set_base() */
	calibration_error error;
};

namespace detail {

inline constexpr u32 measurements = 200;

/* Spin iterations in one measurement; a power of two. */
inline constexpr u32 relaxes_at_once = 16;

constexpr u32 to_u32(u64 v)
{
	return v > ~u32{0} ? ~u32{0} : static_cast<u32>(v);
}

constexpr u32 less(u32 measured, u32 overhead)
{
	return measured > overhead ? measured - overhead : 0;
}

/* The least time that body() takes, including the reads of the clock. */
template <typename Body>
inline u32 least_cycles(Body &&body)
{
	u32 least = ~u32{0};

	for (u32 i = 0; i < measurements; i++) {
		const u64 begin = arch::cycles_begin();
		body();
		const u32 took = to_u32(arch::cycles_end() - begin);
		if (took < least)
			least = took;
	}
	return least;
}

} // namespace detail

/*
 * Two CPUs that pass a ball to each other. One calls answer(), which returns
 * when the other has called measure() or finish(); in either order, and any
 * number of times. Both must run at the same time.
 */
struct handoff_meter {
	/* Returns the cost of one handoff, without the clock's own time. */
	u32 measure(u32 clock_overhead)
	{
		u32 number = 0;
		const u32 round_trip = detail::least_cycles([&] {
			there_and_back(number + 1);
			number += 2;
		});

		finish();
		return detail::less(round_trip, clock_overhead) / 2;
	}

	/* Lets answer() return without a measurement. */
	void finish()
	{
		ball.store_release(over);	/* O3 */
		ball.await_eq_acquire(at_rest); /* O6 */
	}

	/* The other CPU's part. */
	void answer()
	{
		while (answer_once())
			;
	}

	/* One handoff to the other CPU and one back; number is odd. */
	void there_and_back(u32 number)
	{
		ball.store_release(number);	   /* O1 */
		ball.await_eq_acquire(number + 1); /* O2 */
	}

	/* The other CPU's part of that; false: finish() was called. */
	[[nodiscard]] bool answer_once()
	{
		const u32 thrown = ball.await_acquire(
			[](u32 v) { return v % 2 == 1; }); /* O4 */
		const bool last = thrown == over;

		ball.store_release(last ? at_rest : thrown + 1); /* O5 */
		return !last;
	}

      private:
	static constexpr u32 at_rest = 0;
	static constexpr u32 over = ~u32{0};

	/* odd: the other CPU has it; even: it has come back */
	alignas(cache_line) atomic<u32> ball;
};

/* Spin iterations as long as a section and its handoff; at least 1. */
constexpr u32 proportional_base(u32 relax, u32 handoff, u32 section = 0)
{
	const u32 turn = relax != 0 ? relax : 1;
	const u32 ahead = detail::to_u32(u64{handoff} + section);
	const u32 turns = ahead / turn + (ahead % turn != 0);

	return turns != 0 ? turns : 1;
}

/*
 * Measures while another CPU is in meter.answer(). Calls section(), an example
 * of a usual critical section, a few hundred times, without the lock.
 */
template <typename Section>
calibration calibrate(handoff_meter &meter, Section &&section)
{
	calibration c{};

	if (!arch::cycles_usable()) {
		meter.finish();
		c.base = guessed_base;
		c.error = calibration_error::no_clock;
		return c;
	}
	const u32 nothing = detail::least_cycles([] {});
	const u32 pauses = detail::least_cycles(
		[] { relax_for(detail::relaxes_at_once); });

	c.relax = detail::less(pauses, nothing) / detail::relaxes_at_once;
	c.handoff = meter.measure(nothing);
	c.section = detail::less(detail::least_cycles(section), nothing);
	c.base = proportional_base(c.relax, c.handoff, c.section);
	c.error = arch::cycles_steady() ? calibration_error::none
					: calibration_error::unsteady_clock;
	return c;
}

/* Calibrates for sections that are short compared with a handoff. */
inline calibration calibrate(handoff_meter &meter)
{
	return calibrate(meter, [] {});
}

} // namespace klock
