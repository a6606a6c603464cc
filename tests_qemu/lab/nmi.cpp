/* SPDX-License-Identifier: MIT */
/*
 * nmi - what the lab does with non-maskable interrupts
 */
#include "nmi.hpp"

#include "context.hpp"

#include <boot/kernel.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>

namespace lab {

namespace {

using klock::u32;
using klock::u64;
using klock::usize;

using looker = void (*)();

struct alignas(klock::cache_line) nmi_state {
	klock::atomic<u32> taken;
	klock::atomic<usize> ip;
	u32 asked_at = ~0u; /* what it had taken when CPU 0 asked: CPU 0's */
	bool sees_pause =
		false; /* in on_pause(): its own pauses do not count */
};

constinit nmi_state states[boot::max_cpus];
constinit klock::atomic<void (*)(unsigned)> visitor;
constinit volatile looker look_now = nullptr;
constinit u64 cycles_a_look = 0;
constinit u64 last_look = 0;

/* CPU 0 cannot tell the clock's NMI from others: it looks when it is time. */
void look_if_due()
{
	const u64 now = klock::cycles();

	const looker look = look_now;

	if (!look || now - last_look < cycles_a_look)
		return;
	last_look = now;
	look();
}

void on_nmi(boot::interrupt_frame &frame)
{
	const unsigned cpu = boot::this_cpu();
	const in_handler here(cpu, klock::context::nmi);
	nmi_state &mine = states[cpu];

	mine.ip.store_relaxed(frame.ip);
	mine.taken.store_release(mine.taken.load_relaxed() + 1);
	if (const auto visit = visitor.load_acquire())
		visit(cpu);
	if (cpu == 0)
		look_if_due();
}

/* Instead of an NMI. */
void on_pause(unsigned cpu, usize at)
{
	nmi_state &mine = states[cpu];

	if (mine.sees_pause)
		return;
	mine.sees_pause = true;
	mine.ip.store_relaxed(at);
	mine.taken.store_release(mine.taken.load_relaxed() + 1);
	if (cpu == 0)
		look_if_due();
	mine.sees_pause = false;
}

/* The clock runs, and an NMI has come: it is the right wire. */
const char *try_clock()
{
	constexpr u32 longest_wait_ms = 5000;
	const u32 before = states[0].taken.load_relaxed();

	if (const char *why_not = boot::nmi_clock_start(1000))
		return why_not;
	for (u32 i = 0; i < longest_wait_ms * 10; i++) {
		if (states[0].taken.load_relaxed() != before)
			return nullptr;
		boot::delay_us(100);
	}
	return "the timer's NMI does not come";
}

} // namespace

void take_nmis()
{
	if (boot::has_nmi())
		boot::set_interrupt_handler(boot::vector_nmi, on_nmi);
	else
		boot::set_pause_visitor(on_pause);
}

void set_nmi_visitor(void (*visit)(unsigned cpu))
{
	visitor.store_release(visit);
}

const char *find_nmi_clock()
{
	static constinit bool looked_for = false;
	static constinit const char *why_not = nullptr;

	if (!looked_for && boot::has_nmi())
		why_not = try_clock();
	looked_for = true;
	return why_not;
}

void start_nmi_clock(u32 period_us, void (*look)())
{
	look_now = nullptr;
	if (find_nmi_clock())
		return;
	if (boot::has_nmi() && boot::nmi_clock_start(period_us))
		return;
	cycles_a_look = boot::ns_to_cycles(u64{period_us} * 900);
	last_look = klock::cycles();
	look_now = look;
}

bool have_all_run(unsigned cpus)
{
	for (unsigned cpu = 1; cpu < cpus; cpu++)
		if (states[cpu].taken.load_acquire() == states[cpu].asked_at)
			return false;
	return true;
}

void ask_all(unsigned cpus)
{
	for (unsigned cpu = 1; cpu < cpus; cpu++) {
		states[cpu].asked_at = states[cpu].taken.load_relaxed();
		if (boot::has_nmi())
			boot::send_nmi_from_nmi(cpu);
	}
}

void ask_where_all_are()
{
	u32 before[boot::max_cpus];

	if (!boot::has_nmi())
		return;
	visitor.store_release(nullptr);
	for (unsigned cpu = 1; cpu < boot::cpu_count(); cpu++) {
		before[cpu] = states[cpu].taken.load_relaxed();
		boot::send_nmi(cpu);
	}
	for (unsigned cpu = 1; cpu < boot::cpu_count(); cpu++) {
		/* Not for ever: it may be stuck in an NMI handler itself. */
		for (u32 turns = 0; turns < 1000000; turns++) {
			if (states[cpu].taken.load_acquire() != before[cpu])
				break;
			klock::cpu_relax();
		}
	}
}

usize where_is(unsigned cpu) { return states[cpu].ip.load_relaxed(); }

u64 nmis_taken()
{
	u64 sum = 0;

	if (!boot::has_nmi())
		return 0;
	for (unsigned cpu = 0; cpu < boot::cpu_count(); cpu++)
		sum += states[cpu].taken.load_relaxed();
	return sum;
}

} // namespace lab
