/* SPDX-License-Identifier: MIT */
/*
 * watchdog - says who waits for what when nobody gets on
 */
#include "watchdog.hpp"

#include "nmi.hpp"

#include <boot/kernel.hpp>
#include <boot/report.hpp>

namespace lab {

namespace {

using klock::u32;
using namespace klock::selftest;

constexpr u32 short_patience_ms = 500; /* for a lock that should not work */

constinit u32 patience_ms = 10000;
constinit watched current = {};
constinit klock::atomic<u32> watching{0};
constinit u32 last_progress = 0;
constinit u32 still_ms = 0;
constinit bool has_clock = false;

/* The first CPU that is inside, or as many as there are: nobody is. */
unsigned holder()
{
	for (unsigned cpu = 0; cpu < current.cpus; cpu++)
		if (current.what(current.test, cpu) == doing_section)
			return cpu;
	return current.cpus;
}

void print_lock()
{
	const lock_state s = current.state(current.test);

	boot::print_report("  the lock:");
	if (s.has_tickets)
		boot::print_report(" next ticket %u, served %u;", s.next,
				   s.owner);
	boot::print_report(" bytes");
	for (unsigned i = 0; i < s.size; i++)
		boot::print_report(" %02x", s.bytes[i]);
	boot::print_report("\n");
}

void print_cpu(unsigned cpu, unsigned held_by)
{
	const doing what = current.what(current.test, cpu);

	if (what == doing_wait && held_by < current.cpus)
		boot::print_report("  CPU %u waits for %s, which CPU %u holds",
				   cpu, current.lock, held_by);
	else if (what == doing_wait)
		boot::print_report("  CPU %u waits for %s, which nobody holds",
				   cpu, current.lock);
	else if (what == doing_section)
		boot::print_report("  CPU %u holds %s", cpu, current.lock);
	else
		boot::print_report("  CPU %u is outside", cpu);
	boot::print_report("; at %p\n",
			   reinterpret_cast<const void *>(where_is(cpu)));
}

[[noreturn]] void report_stuck()
{
	ask_where_all_are();
	boot::begin_report();
	boot::print_report("PANIC on CPU 0: no progress for %u ms: %s, after "
			   "%u sections\n",
			   still_ms, current.lock, last_progress);
	const unsigned held_by = holder();

	print_lock();
	for (unsigned cpu = 0; cpu < current.cpus; cpu++)
		print_cpu(cpu, held_by);
	boot::end_report();
}

/* In CPU 0's NMI handler. */
void look()
{
	if (!watching.load_acquire())
		return;
	const u32 now = current.progress(current.test);

	still_ms = now == last_progress ? still_ms + nmi_clock_ms : 0;
	last_progress = now;
	if (current.standstill == stuck::is_meant) {
		if (still_ms >= short_patience_ms)
			give_up = true;
	} else if (still_ms >= patience_ms) {
		report_stuck();
	}
}

} // namespace

void set_patience(u32 ms) { patience_ms = ms; }

void start_watching(const watched &what)
{
	current = what;
	last_progress = ~0u;
	still_ms = 0;
	if (!has_clock)
		has_clock = start_nmi_clock(look);
	watching.store_release(1);
}

void stop_watching() { watching.store_release(0); }

} // namespace lab
