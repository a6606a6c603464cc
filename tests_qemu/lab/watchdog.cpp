/* SPDX-License-Identifier: MIT */
/*
 * watchdog - says who waits for what when nobody gets on
 */
#include "watchdog.hpp"

#include "machine.hpp"
#include "faults.hpp"

#include <boot/kernel.hpp>
#include <boot/panic.hpp>
#include <klock/print_held.hpp>

namespace lab {

using klock::u32;
using klock::u8;

namespace {

/* The turn without that bit, and the next ticket, which counts by twos, too. */
void drop_held_bit(lock_state &s)
{
	s.owner >>= 1;
	s.next >>= 1;
}

} // namespace

lock_state describe(const void *lock, const lock_shape &shape)
{
	const auto *at = static_cast<const volatile u8 *>(lock);
	const ticket_places from = shape.places;
	lock_state s;

	s.size = static_cast<unsigned>(
		shape.size < sizeof(s.bytes) ? shape.size : sizeof(s.bytes));
	for (unsigned i = 0; i < s.size; i++)
		s.bytes[i] = at[i];
	if (from.nowhere())
		return s;
	s.has_tickets = true;
	for (unsigned i = 0; i < shape.ticket_size; i++) {
		s.next |= u32{at[from.next + i]} << 8 * i;
		s.owner |= u32{at[from.owner + i]} << 8 * i;
	}
	if (shape.has_held_bit)
		drop_held_bit(s);
	return s;
}

namespace {

using klock::u32;
using klock::u64;
using namespace klock::selftest;

/* Rarely where it only waits; often where stand-stills are looked for. */
constexpr u32 slow_us = 54000;
constexpr u32 fast_us = 1000;

constinit const options *asked = nullptr;
constinit watched current = {};
constinit klock::atomic<u32> watching{0};
constinit u32 last_progress = 0;
constinit u32 still = 0;	 /* looks without progress */
constinit u32 longest_still = 0; /* of the control's */
constinit u32 unanswered = 0;	 /* looks since a CPU was asked in vain */
constinit u32 bearable_ms = 0;	 /* what patience= is on this host now */

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
			   (still + unanswered) * (slow_us / 1000),
			   current.lock, last_progress);
	const unsigned held_by = holder();

	print_lock();
	for (unsigned cpu = 0; cpu < current.cpus; cpu++)
		print_cpu(cpu, held_by);
	klock::print_held(
		[](const char *line) { boot::print_report("  %s\n", line); });
	boot::end_report();
}

/*
 * A look counts if every CPU has run since the last one that counted: a host
 * that runs none of them for a while is not the lock's fault.
 */
void count_look()
{
	const u32 now = current.progress(current.test);

	if (now != last_progress) {
		last_progress = now;
		if (current.standstill == stuck::is_control &&
		    still > longest_still)
			longest_still = still;
		still = unanswered = 0;
		return;
	}
	if (!have_all_run(current.cpus)) {
		unanswered++;
		return;
	}
	still++;
	unanswered = 0;
	ask_all(current.cpus);
}

/*
 * A stand-still is as many pauses of all CPUs, too: a host that is busy with
 * other things makes each longer.
 */
u32 bearable(unsigned cpus)
{
	const u32 patience_ms = asked->patience;
	constexpr u64 pauses = 100000;
	const u64 ms = boot::div_u64(
		boot::cycles_to_ns(relax_among(cpus)) * pauses, 1000000);

	return ms > patience_ms ? static_cast<u32>(ms) : patience_ms;
}

/* In looks. A lock that is to be found out gets what the right ones needed. */
u32 patience()
{
	switch (current.standstill) {
	case stuck::is_meant:
		return 20 + 8 * longest_still;
	case stuck::is_control:
		return bearable_ms / (fast_us / 1000);
	default:
		return bearable_ms / (slow_us / 1000);
	}
}

/* In CPU 0's NMI handler, or in a pause of its. */
void look()
{
	if (!watching.load_acquire())
		return;
	count_look();
	if (current.standstill == stuck::is_a_bug) {
		/* A CPU that never answers again is a bug, too. */
		if (still >= patience() || unanswered / 8 >= patience())
			report_stuck();
	} else if (still >= patience()) {
		give_up = true;
	}
}

} // namespace

void set_patience(const options &o) { asked = &o; }

bool has_watchdog()
{
	const char *const why_not = find_nmi_clock();

	if (!boot::has_nmi())
		boot::print("# no NMIs here: none take a lock, none of the "
			    "tests for them is made\n"
			    "# the watchdog sees CPUs that pause in a wait, no "
			    "others\n");
	if (why_not)
		boot::print("# no watchdog: %s\n", why_not);
	return !why_not;
}

u32 longest_stand_still() { return longest_still; }

void start_watching(const watched &what)
{
	current = what;
	last_progress = ~0u;
	still = unanswered = 0;
	bearable_ms = bearable(what.cpus);
	start_nmi_clock(what.standstill == stuck::is_a_bug ? slow_us : fast_us,
			look);
	watching.store_release(1);
}

void stop_watching() { watching.store_release(0); }

} // namespace lab
