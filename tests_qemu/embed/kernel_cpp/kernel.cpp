/* SPDX-License-Identifier: MIT */
/*
 * A kernel in C++, with klock copied into it.
 *
 * A thread and a timer's handler on every CPU put events into one log, which an
 * irq_lock owns: nobody reaches it without the lock, or with interrupts on.
 * CPU 0's handler keeps a clock that all read without a lock. Routes are read
 * by all, and changed now and then. A table is made by the first who needs it.
 * Nobody begins before all CPUs are there. The data are counted without
 * atomics: a lock that lets two in shows.
 */
#include <boot/kernel.hpp>

#include <klock/barrier.hpp>
#include <klock/irq_lock.hpp>
#include <klock/once.hpp>
#include <klock/rw_ticket_lock.hpp>
#include <klock/seq_lock.hpp>
#include <klock/shared_guard.hpp>
#include <klock/synchronized.hpp>
#include <klock/ticket_lock.hpp>

namespace {

using boot::u64;

constexpr u64 events_each = 5000;
constexpr u64 ticks_each = 5;
/* A thread and a handler on each CPU contend. */
constexpr unsigned contexts = 2 * boot::max_cpus;
constexpr boot::u8 timer_vector = boot::first_free_vector;

/*
 * The kernel's lock: one line decides for all of them. The compiler picks the
 * counter.
 */
using spinlock = klock::ticket_lock_for<2 * boot::max_cpus>;

/* Threads and handlers log: interrupts are off wherever it is reached. */
struct event_log {
	u64 events;
	u64 ticks;
};
constinit klock::synchronized<event_log, klock::irq_lock<spinlock>> the_log;

/* CPU 0's handler writes, all read; no reader waits for another. */
struct moment {
	unsigned long ticks;
	unsigned long thousands;
};
constinit klock::seq_lock<moment> the_clock;

/* Read under a shared guard, changed under a guard. Threads alone. */
constinit klock::rw_ticket_lock_for<contexts> routes_lock;
u64 routes[2];

/* Made by the first who needs it, wherever that is. */
struct square_table {
	unsigned of[16];
};
constinit klock::lazy<square_table> squares;
constinit klock::atomic<unsigned> tables_made;

constinit klock::spin_barrier all_are_up;

/* Each CPU's own: its handler's ticks; what its thread saw that is wrong. */
volatile u64 ticks[boot::max_cpus];
u64 wrong[boot::max_cpus];

void timer_tick(boot::interrupt_frame &)
{
	const unsigned cpu = boot::this_cpu();

	ticks[cpu] = ticks[cpu] + 1;
	the_log.with([](event_log &log) { log.ticks++; });
	if (cpu == 0)
		the_clock.update([](moment &now) {
			now.ticks++;
			now.thousands += 1000;
		});
}

bool clock_is_whole()
{
	const moment now = the_clock.read();

	return now.thousands == 1000 * now.ticks;
}

bool routes_agree()
{
	klock::shared_guard held(routes_lock);

	return routes[0] == routes[1];
}

void change_routes()
{
	klock::guard held(routes_lock);

	routes[0]++;
	routes[1]++;
}

unsigned square(unsigned n)
{
	return squares
		.get([] {
			square_table t;

			tables_made.fetch_add_relaxed(1);
			for (unsigned i = 0; i < 16; i++)
				t.of[i] = i * i;
			return t;
		})
		.of[n];
}

void log_event()
{
	auto log = the_log.lock();

	log->events++;
}

void work(unsigned cpu, void *)
{
	all_are_up.arrive_and_wait(boot::cpu_count());
	boot::timer_start_periodic(timer_vector, 1'000'000);
	for (u64 i = 0; i < events_each || ticks[cpu] < ticks_each; i++) {
		if (i < events_each)
			log_event();
		if (i % 16 == cpu % 16)
			change_routes();
		wrong[cpu] += !clock_is_whole();
		wrong[cpu] += !routes_agree();
		wrong[cpu] += square(cpu % 16) != (cpu % 16) * (cpu % 16);
	}
	boot::timer_stop();
}

} // namespace

int payload_main()
{
	const unsigned cpus = boot::cpu_count();
	u64 ticks_taken = 0, mistakes = 0;

	boot::set_interrupt_handler(timer_vector, timer_tick);
	boot::run_on_cpus(cpus, work, nullptr);
	boot::delay_us(5000); /* a tick that was on its way */
	for (unsigned cpu = 0; cpu < cpus; cpu++) {
		ticks_taken += ticks[cpu];
		mistakes += wrong[cpu];
	}

	const event_log &log = the_log.without_lock();

	boot::print("%u CPUs logged %u events, %s\n", cpus, log.events,
		    log.ticks == ticks_taken ? "and every tick"
					     : "but lost ticks");
	boot::print("%u mistakes seen, %u table made, the clock says %s\n",
		    mistakes, tables_made.load_relaxed(),
		    the_clock.read().ticks == ticks[0] ? "the same" : "else");
	if (log.events != cpus * events_each || log.ticks != ticks_taken ||
	    mistakes || tables_made.load_relaxed() != 1 ||
	    the_clock.read().ticks != ticks[0])
		return 1;
	boot::print("PASS\n");
	return 0;
}
