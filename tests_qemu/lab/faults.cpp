/* SPDX-License-Identifier: MIT */
/*
 * faults - interrupts, IPIs and NMIs at any moment, and what they stop
 */
#include "faults.hpp"

#include "context.hpp"
#include "options.hpp"

#include <boot/kernel.hpp>
#include <boot/panic.hpp>
#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/selftest/parts.hpp>

namespace lab {

namespace {

using klock::u32;
using klock::u64;
using klock::usize;

using looker = void (*)();

struct alignas(klock::cache_line) nmi_state {
	klock::atomic<u32> taken;
	klock::atomic<usize> ip;
	klock::atomic<u32> sent; /* 1: a counted one is on its way */
	u64 counted = 0;	 /* that came */
	u32 asked_at = ~0u; /* what it had taken when CPU 0 asked: CPU 0's */
	bool sees_pause =
		false; /* in on_pause(): its own pauses do not count */
};

constinit nmi_state nmi_states[boot::max_cpus];
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
	nmi_state &mine = nmi_states[cpu];

	mine.ip.store_relaxed(frame.ip);
	mine.taken.store_release(mine.taken.load_relaxed() + 1);
	mine.counted += mine.sent.exchange_relaxed(0);
	if (const auto visit = visitor.load_acquire())
		visit(cpu);
	if (cpu == 0)
		look_if_due();
}

/* Instead of an NMI. */
void on_pause(unsigned cpu, usize at)
{
	nmi_state &mine = nmi_states[cpu];

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
	const u32 before = nmi_states[0].taken.load_relaxed();

	if (const char *why_not = boot::nmi_clock_start(1000))
		return why_not;
	for (u32 i = 0; i < longest_wait_ms * 10; i++) {
		if (nmi_states[0].taken.load_relaxed() != before)
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
		if (nmi_states[cpu].taken.load_acquire() ==
		    nmi_states[cpu].asked_at)
			return false;
	return true;
}

void ask_all(unsigned cpus)
{
	for (unsigned cpu = 1; cpu < cpus; cpu++) {
		nmi_states[cpu].asked_at = nmi_states[cpu].taken.load_relaxed();
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
		before[cpu] = nmi_states[cpu].taken.load_relaxed();
		boot::send_nmi(cpu);
	}
	for (unsigned cpu = 1; cpu < boot::cpu_count(); cpu++) {
		/* Bounded: that CPU may be stuck in an NMI handler itself. */
		for (u32 turns = 0; turns < 1000000; turns++) {
			if (nmi_states[cpu].taken.load_acquire() != before[cpu])
				break;
			klock::cpu_relax();
		}
	}
}

usize where_is(unsigned cpu) { return nmi_states[cpu].ip.load_relaxed(); }

u64 nmis_taken()
{
	u64 sum = 0;

	for (unsigned cpu = 0; cpu < boot::cpu_count(); cpu++)
		sum += nmi_states[cpu].counted;
	return sum;
}

namespace {

using klock::u32;
using klock::u64;
using klock::u8;
using klock::selftest::xorshift;

constexpr u8 timer_vector = 0x41;
constexpr u8 ipi_vector = 0x42;

/* One CPU's own; its handlers do not interrupt each other. */
struct alignas(klock::cache_line) fault_state {
	xorshift dice{1};
	u64 timer = 0;
	u64 ipi = 0;
	u64 stalls = 0;
	u32 last_progress = 0; /* the test's, when the timer was set */
	u32 idle = 0;	       /* timer interrupts without any */
	u32 slower = 1;	       /* how many times the period */
};

constinit fault_state states[boot::max_cpus];
constinit klock::selftest::barrier everyone;
constinit klock::atomic<u32> active{0};
constinit klock::atomic<u32> inside{0}; /* the test's handlers */
constinit visitors tests = {};
constinit unsigned taking_part = 0;
constinit u64 nmis_before = 0;

/* The parts that the run leaves out. */
struct left_out {
	bool timer, ipi, nmi, handler;
};
constinit left_out lacks = {};

/*
 * 1 ms, or where many CPUs share few of the host's as much as those can bear
 * (255 vCPUs on one host core: 50 ms).
 */
u64 period_ns()
{
	const u64 bearable = u64{taking_part} * 200000;

	return bearable > 1000000 ? bearable : 1000000;
}

/* Turns; where vCPUs take turns, each one is a turn of all of them. */
u32 longest_stall()
{
	const u32 shared = static_cast<u32>(boot::div_u64(16000, taking_part));

	return shared < 2000 ? shared : 2000;
}

/*
 * The factor by which interrupts are slowed down. On a busy host they come by
 * its clock and take all the time that the vCPUs get: if the test makes no
 * progress, they come more rarely.
 */
u32 slowed_down(fault_state &mine)
{
	constexpr u32 slowest = 256;
	constexpr u32 longest_leave = 3; /* timer interrupts, asleep */
	const u32 now = tests.progress();

	if (now != mine.last_progress)
		mine.slower = mine.slower > 1 ? mine.slower / 2 : 1;
	else if (++mine.idle > longest_leave && mine.slower < slowest)
		mine.slower *= 2;
	if (now != mine.last_progress)
		mine.idle = 0;
	mine.last_progress = now;
	return mine.slower;
}

/* At a random time within one and a half periods: nothing runs in step. */
void arm(fault_state &mine)
{
	const u64 period = period_ns() * slowed_down(mine);
	const u64 extra = u64{mine.dice.below(1024)} * (period >> 10);

	if (!lacks.timer)
		boot::timer_start_one_shot(timer_vector, (period >> 1) + extra);
}

/* The test's, while it runs. */
void call(void (*handler)(unsigned cpu), unsigned cpu)
{
	if (!active.load_acquire() || !handler)
		return;
	inside.fetch_add_acq_rel(1);
	handler(cpu);
	inside.fetch_sub_acq_rel(1);
}

void visit(unsigned cpu)
{
	if (!lacks.handler)
		call(tests.in_interrupt, cpu);
}

void on_timer(boot::interrupt_frame &)
{
	const unsigned cpu = boot::this_cpu();
	const in_handler here(cpu, klock::context::interrupt);
	fault_state &mine = states[cpu];

	mine.timer++;
	if (mine.dice.below(2) == 0)
		send_random_ipi(mine.dice.next());
	if (mine.dice.below(2) == 0)
		send_random_nmi(mine.dice.next());
	if (mine.dice.below(8) == 0) {
		mine.stalls++;
		klock::relax_for(mine.dice.below(longest_stall()));
	}
	visit(cpu);
	if (active.load_acquire())
		arm(mine);
}

void on_ipi(boot::interrupt_frame &)
{
	const unsigned cpu = boot::this_cpu();
	const in_handler here(cpu, klock::context::interrupt);

	states[cpu].ipi++;
	visit(cpu);
}

void on_nmi(unsigned cpu)
{
	if (!lacks.nmi)
		call(tests.in_nmi, cpu);
}

/* The CPU that gets this one's IPIs and NMIs: another, or itself if alone. */
unsigned another(unsigned random)
{
	if (taking_part == 1)
		return 0;

	const unsigned me = boot::this_cpu();
	const unsigned cpu =
		static_cast<unsigned>(u64{random} * (taking_part - 1) >> 32);

	return cpu < me ? cpu : cpu + 1;
}

} // namespace

void prepare_faults(unsigned cpus, u32 seed, visitors what)
{
	taking_part = cpus;
	tests = what;
	lacks = {asks_for(seeded::no_timer), asks_for(seeded::no_ipi),
		 asks_for(seeded::no_nmi), asks_for(seeded::no_handler)};
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		states[cpu].dice = xorshift(seed * 31 + cpu);
		states[cpu].timer = states[cpu].ipi = states[cpu].stalls = 0;
		states[cpu].last_progress = ~0u;
		states[cpu].slower = 1;
		states[cpu].idle = 0;
	}
	everyone.reset();
	nmis_before = nmis_taken();
	boot::set_interrupt_handler(timer_vector, on_timer);
	boot::set_interrupt_handler(ipi_vector, on_ipi);
	set_nmi_visitor(on_nmi);
	active.store_release(boot::has_ipis());
}

void begin_faults(unsigned cpu)
{
	if (active.load_acquire())
		arm(states[cpu]);
}

void end_faults(unsigned cpu)
{
	/*
	 * All are done, or have given up; then the senders stop; then, as a
	 * handler ends before its CPU gets to the last meeting, nobody is in
	 * one any more.
	 */
	everyone.meet_all(taking_part);
	if (cpu == 0)
		active.store_release(0);
	everyone.meet_all(taking_part);
	if (boot::has_ipis())
		boot::timer_stop();
	everyone.meet_all(taking_part);
	if (inside.load_acquire())
		boot::panic("a handler of the test runs after its end");
}

void send_random_ipi(unsigned random)
{
	if (active.load_acquire() && !lacks.ipi)
		boot::send_ipi(another(random), ipi_vector);
}

void send_random_nmi(unsigned random)
{
	if (!active.load_acquire() || !boot::has_nmi() || lacks.nmi)
		return;
	const unsigned cpu = another(random);

	nmi_states[cpu].sent.store_release(1);
	boot::send_nmi(cpu);
}

fault_counts faults_so_far()
{
	fault_counts sum;

	for (unsigned cpu = 0; cpu < taking_part; cpu++) {
		sum.timer += states[cpu].timer;
		sum.ipi += states[cpu].ipi;
		sum.stalls += states[cpu].stalls;
	}
	sum.nmi = nmis_taken() - nmis_before;
	return sum;
}

} // namespace lab
