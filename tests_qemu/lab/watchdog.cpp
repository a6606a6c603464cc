/* SPDX-License-Identifier: MIT */
/*
 * watchdog - says who waits when nobody gets on
 *
 * CPU 0's timer interrupt looks at the progress of the run. A CPU that spins in
 * lock() cannot be had back, so a stand-still of a sound lock is the end, with
 * a report; a busted lock's waits end when give_up is set.
 */
#include "runner.hpp"

namespace lab {

namespace {

constexpr klock::u8 watchdog_vector = 0x40;
constexpr u32 period_ms = 100;
constexpr u32 patience_ms = 10000;     /* for a lock that should work */
constexpr u32 short_patience_ms = 500; /* for one that should not */

watched current;
u32 last_progress;
u32 still_ms;

void report_stuck()
{
	static const char *const words[] = {"is outside", "waits", "is inside"};

	boot::print("\n# %s: no progress, %u sections done\n", current.lock,
		    last_progress);
	for (unsigned cpu = 0; cpu < current.cpus; cpu++)
		boot::print("# CPU %u %s\n", cpu,
			    words[current.what(current.test, cpu)]);
	boot::print("FAIL: %s: no progress\n", current.lock);
	boot::exit(boot::exit_code::fail);
}

void look(boot::interrupt_frame &)
{
	const u32 now = current.progress(current.test);

	still_ms = now == last_progress ? still_ms + period_ms : 0;
	last_progress = now;
	if (current.standstill == stuck::is_meant) {
		if (still_ms >= short_patience_ms)
			klock::selftest::give_up = true;
	} else if (still_ms >= patience_ms) {
		report_stuck();
	}
}

} // namespace

void start_watchdog(const watched &what)
{
	current = what;
	last_progress = still_ms = 0;
	if (!boot::has_apic())
		return;
	boot::set_interrupt_handler(watchdog_vector, look);
	boot::timer_start_periodic(watchdog_vector,
				   klock::u64{period_ms} * 1000000);
}

void stop_watchdog() { boot::timer_stop(); }

} // namespace lab
