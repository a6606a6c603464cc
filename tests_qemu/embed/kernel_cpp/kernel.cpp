/* SPDX-License-Identifier: MIT */
/*
 * A kernel in C++, with klock copied into it.
 *
 * What a driver and its interrupt handler do all day: threads on every CPU and
 * every CPU's timer interrupt put events into one log. The log counts without
 * atomics; if the lock lets two in, or is taken with interrupts on, it shows.
 */
#include <boot/kernel.hpp>

#include <klock/irq_guard.hpp>
#include <klock/ticket_lock.hpp>

namespace {

using boot::u64;

constexpr u64 events_each = 20000;
constexpr u64 ticks_each = 5;
constexpr boot::u8 timer_vector = boot::first_free_vector;

/*
 * The kernel's lock: one line decides for all of them. A thread and a handler
 * on each CPU contend; the compiler picks the counter.
 */
using spinlock = klock::ticket_lock_for<2 * boot::max_cpus>;

constinit spinlock log_lock;

/* Under log_lock. */
u64 log_events;
u64 log_ticks;

/* Each CPU's own, written by its handler. */
volatile u64 ticks[boot::max_cpus];

void log_tick()
{
	klock::irq_guard held(log_lock);

	log_ticks++;
}

void log_event()
{
	klock::irq_guard held(log_lock);

	log_events++;
}

void timer_tick(boot::interrupt_frame &)
{
	const unsigned cpu = boot::this_cpu();

	ticks[cpu] = ticks[cpu] + 1;
	log_tick();
}

void work(unsigned cpu, void *)
{
	boot::timer_start_periodic(timer_vector, 1'000'000);
	for (u64 i = 0; i < events_each || ticks[cpu] < ticks_each; i++) {
		if (i < events_each)
			log_event();
	}
	boot::timer_stop();
}

} // namespace

int payload_main()
{
	const unsigned cpus = boot::cpu_count();
	u64 ticks_taken = 0;

	boot::set_interrupt_handler(timer_vector, timer_tick);
	boot::run_on_cpus(cpus, work, nullptr);
	boot::delay_us(5000); /* a tick that was on its way */
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		ticks_taken += ticks[cpu];

	boot::print("%u CPUs logged %u events, %s\n", cpus, log_events,
		    log_ticks == ticks_taken ? "and every tick"
					     : "but lost ticks");
	if (log_events != cpus * events_each || log_ticks != ticks_taken)
		return 1;
	boot::print("PASS\n");
	return 0;
}
