/* SPDX-License-Identifier: MIT */
/*
 * A kernel in C, with klock as a static library.
 *
 * It is kernel_cpp in C, with a log by three kinds of lock: a ticket lock that
 * the timer interrupt takes too, an MCS lock whose nodes live on the stack, and
 * a CLH lock whose nodes must not. Handlers read the routes, too. What C++ says
 * by types, synchronized and irq_lock, C says by functions: nothing but
 * log_to() reaches the log, with interrupts off.
 */
#include "boot_c.h"

#include <klock/klock.h>

/* Names that such kernels have of their own. */
typedef unsigned char u8;
typedef unsigned int uint;
typedef unsigned long long u64;

enum {
	max_cpus = 64,
	events_each = 10000,
	changes_each = events_each / 16,
	ticks_each = 5,
};

/* A thread and a handler on each CPU may want it at once. */
_Static_assert(2 * max_cpus <= KLOCK_TICKET_U8_CONTENDERS,
	       "more CPUs than the lock has tickets for");
static struct klock_ticket_u8 log_lock = KLOCK_TICKET_INIT;
static u64 log_events, log_ticks;

static struct klock_mcs mcs = KLOCK_MCS_INIT;
static u64 under_mcs;

static struct klock_clh clh = KLOCK_CLH_INIT(clh);
static struct klock_clh_node clh_nodes[max_cpus];
static u64 under_clh;

/* Touched by klock_seq_count_read() and _write() alone. */
struct moment {
	unsigned long ticks, thousands;
};
static struct klock_seq_count clock_seq = KLOCK_SEQ_COUNT_INIT;
static struct moment wall_clock;

/* Read and changed with interrupts off: handlers read, too. */
_Static_assert(2 * max_cpus <= KLOCK_RW_TICKET_U8_CONTENDERS,
	       "more CPUs than the lock has tickets for");
static struct klock_rw_ticket_u8 routes_lock = KLOCK_RW_TICKET_INIT;
static u64 routes[2];

static struct klock_once squares_made = KLOCK_ONCE_INIT;
static uint squares[16];
static uint times_made;

static struct klock_barrier all_are_up = KLOCK_BARRIER_INIT;

static volatile u64 ticks[max_cpus];
/* The faults that a CPU's thread saw, and those that its handler saw. */
static u64 wrong[max_cpus], wrong_in_handler[max_cpus];

static void log_to(u64 *counter)
{
	unsigned long flags = klock_lock_irqsave(&log_lock);

	*counter += 1;
	klock_unlock_irqrestore(&log_lock, flags);
}

static void count_by_mcs(void)
{
	struct klock_mcs_node mine;

	klock_lock(&mcs, &mine);
	under_mcs++;
	klock_unlock(&mcs, &mine);
}

/* The node's CPU is asked for when interrupts are off, and not before. */
static void count_by_clh(void)
{
	unsigned long flags;

	flags = klock_lock_irqsave(&clh, clh_nodes, this_cpu);
	under_clh++;
	klock_unlock_irqrestore(&clh, clh_nodes, this_cpu, flags);
}

static int clock_is_whole(void)
{
	struct moment now;

	klock_seq_count_read(&clock_seq, &now, &wall_clock, sizeof(now));
	return now.thousands == 1000 * now.ticks;
}

/* The one writer: CPU 0's handler. */
static void tick_clock(void)
{
	struct moment next = {(unsigned long)ticks[0],
			      1000 * (unsigned long)ticks[0]};

	klock_seq_count_write(&clock_seq, &wall_clock, &next, sizeof(next));
}

static int routes_agree(void)
{
	unsigned long flags = klock_lock_shared_irqsave(&routes_lock);
	int agree = routes[0] == routes[1];

	klock_unlock_shared_irqrestore(&routes_lock, flags);
	return agree;
}

static void change_routes(void)
{
	unsigned long flags = klock_lock_irqsave(&routes_lock);

	routes[0]++;
	delay_us(10); /* whoever is let in here sees half of it */
	routes[1]++;
	klock_unlock_irqrestore(&routes_lock, flags);
}

static int make_squares(void *table)
{
	uint *of = table;

	times_made++;
	for (uint i = 0; i < 16; i++)
		of[i] = i * i;
	return 1;
}

static uint square(uint n)
{
	klock_once_call(&squares_made, make_squares, squares);
	return squares[n];
}

static void timer_tick(void)
{
	uint cpu = this_cpu();

	ticks[cpu] = ticks[cpu] + 1;
	if (cpu == 0)
		tick_clock();
	wrong_in_handler[cpu] += !routes_agree();
	log_to(&log_ticks);
}

static void work(uint cpu)
{
	klock_barrier_wait(&all_are_up, cpu_count());
	timer_start(1000000);
	for (u64 i = 0; i < events_each || ticks[cpu] < ticks_each; i++) {
		if (i < events_each && i % 16 == cpu % 16)
			change_routes();
		wrong[cpu] += !clock_is_whole();
		wrong[cpu] += !routes_agree();
		wrong[cpu] += square(cpu % 16) != (cpu % 16) * (cpu % 16);
		if (i >= events_each)
			continue;
		log_to(&log_events);
		count_by_mcs();
		count_by_clh();
	}
	timer_stop();
}

int kernel_main(void)
{
	uint cpus = cpu_count();
	u64 events = (u64)cpus * events_each, ticks_taken = 0, mistakes = 0;
	unsigned long flags;
	struct moment now;

	if (cpus > max_cpus)
		return 1;
	on_timer(timer_tick);
	run_on_cpus(cpus, work);
	delay_us(5000); /* a tick that was on its way */
	for (uint cpu = 0; cpu < cpus; cpu++) {
		ticks_taken += ticks[cpu];
		mistakes += wrong[cpu] + wrong_in_handler[cpu];
	}
	klock_seq_count_read(&clock_seq, &now, &wall_clock, sizeof(now));

	print_number("klock ", klock_version(), " in C, CPUs: ", cpus);
	print_number("events", "", ": ", log_events);
	if (log_events != events || log_ticks != ticks_taken ||
	    under_mcs != events || under_clh != events)
		return 1;
	print_number("mistakes", "", ": ", mistakes);
	if (routes[0] != (u64)cpus * changes_each || routes[1] != routes[0])
		return 1;
	if (mistakes || times_made != 1 || now.ticks != ticks[0])
		return 1;
	/* Handlers take it: with interrupts off here, too. */
	return klock_try_lock_irqsave(&log_lock, &flags) ? 0 : 1;
}
