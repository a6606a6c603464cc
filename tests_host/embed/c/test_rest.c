/* SPDX-License-Identifier: MIT */
/*
 * klock_seq_count, klock_once, klock_barrier from C, on a host: each verb
 * alone, then three threads. Before that locks that count: who is waited for
 * stands in the table, first; locks that are held from the start; and locks
 * that are released in the order they were taken.
 */
#include "first.h"

#include <klock/klock.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { threads = 3, rounds = 20000, odd = 13 };

static int failures;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s\n", what);
		failures++;
	}
}

/* The kernel's. */
static _Thread_local unsigned self;
static const char *expected_panic;

unsigned klock_os_cpu_id(void) { return self; }
int klock_os_context(void) { return 0; }
void klock_os_panic(const char *name, const void *address, unsigned cpu,
		    const char *what)
{
	if (expected_panic && !strcmp(what, expected_panic)) {
		puts(failures ? "" : "every wait is counted, all is whole");
		exit(failures != 0);
	}
	printf("panic: %s at %p, CPU %u: %s\n", name, address, cpu, what);
	exit(1);
}

/* -- Locks that count -- */

static struct klock_counted_ticket_u8 queue;
static struct klock_counted_ticket_u16 bucket[2];

static char table[2000];
static void put(const char *line, void *with)
{
	(void)with;
	strcat(strcat(table, line), "\n");
}

/* -- Locks that are released in the order they were taken -- */

static struct klock_irq_depth depths[threads];
struct klock_irq_depth *klock_os_irq_depth(void) { return &depths[self]; }

static void out_of_order(void)
{
	static struct klock_tas first, second;
	unsigned long mine;

	klock_push_off();
	klock_lock(&first);
	klock_push_off();
	klock_lock(&second);
	klock_unlock(&first);
	klock_pop_off();
	expect(!klock_irqs_enabled() && klock_push_depth() == 1,
	       "interrupts stay off while one is held");
	mine = klock_irqs_before_push();
	klock_set_irqs_before_push(0);
	klock_unlock(&second);
	klock_pop_off();
	expect(!klock_irqs_enabled(), "the next thread had them off");
	klock_irq_restore(mine);
	expect(klock_irqs_enabled() && klock_push_depth() == 0,
	       "and are as they were");
}

static void *take(void *unused)
{
	klock_lock(&queue);
	klock_unlock(&queue);
	return unused;
}

static void print(void)
{
	table[0] = 0;
	klock_print_counts(put, 0);
}

/* Until it waited: who has its ticket may find the lock free when it looks. */
static void contend(void)
{
	pthread_t other;

	do {
		klock_init(&queue);
		klock_counted_ticket_u8_set_name(&queue, "queue");
		klock_lock(&queue);
		pthread_create(&other, 0, take, 0);
		while (!klock_is_contended(&queue))
			sched_yield();
		klock_unlock(&queue);
		pthread_join(other, 0);
		print();
	} while (strstr(table, " queue\n") == 0);
}

/* Taken once, once by try_lock, and one try fails; in the table, and out. */
#define COUNT(x)                                                               \
	static void count_##x(void)                                            \
	{                                                                      \
		static struct klock_counted_##x lock =                         \
			KLOCK_COUNTED_INIT(#x, FIRST_##x);                     \
                                                                               \
		klock_lock(&lock);                                             \
		expect(!klock_try_lock(&lock), #x " is held");                 \
		klock_unlock(&lock);                                           \
		expect(klock_try_lock(&lock), #x " is free");                  \
		klock_unlock(&lock);                                           \
		klock_counted_##x##_list_counts(&lock);                        \
		print();                                                       \
		expect(strstr(table, TWICE #x "\n") != 0, #x);                 \
		klock_counted_##x##_forget_counts(&lock);                      \
		print();                                                       \
		expect(strstr(table, #x) == 0, #x " is gone");                 \
	}
#define TWICE "           2            0       0               0           0 "
#define COUNT_EACH(shape, x, v) AFTER_THE_LIST(COUNT)(x)
#define CALL_EACH(shape, x, v) count_##x();

EACH(KLOCK_COUNTED_ALL(COUNT_EACH, ))

static void count_all(void) { KLOCK_COUNTED_ALL(CALL_EACH, ) }

/* The lock's name is its readers', too. */
static void count_readers(void)
{
	static struct klock_counted_rw_ticket_u8 routes =
		KLOCK_COUNTED_INIT("routes", KLOCK_RW_TICKET_INIT);
	unsigned long flags;

	klock_lock_shared(&routes);
	expect(klock_try_lock_shared(&routes), "another reads");
	klock_unlock_shared(&routes);
	klock_unlock_shared(&routes);
	flags = klock_lock_irqsave(&routes);
	klock_unlock_irqrestore(&routes, flags);
	klock_counted_rw_ticket_u8_list_counts(&routes);
	print();
	expect(strstr(table, TWICE "routes, readers\n") != 0, "readers");
	expect(strstr(table, " routes\n") != 0, "and writers");
	klock_counted_rw_ticket_u8_forget_counts(&routes);
	print();
	expect(strstr(table, "routes") == 0, "both are gone");
	memset(&routes, 0xff, sizeof(routes));
	klock_init(&routes);
	klock_counted_rw_ticket_u8_set_element(&routes, "table", 4);
	klock_counted_rw_ticket_u8_list_counts(&routes);
	print();
	expect(strstr(table, " table[4], readers\n") != 0, "an element's");
	klock_counted_rw_ticket_u8_forget_counts(&routes);
}

static void counts(void)
{
	unsigned long flags;

	count_all();
	count_readers();
	memset(bucket, 0xff, sizeof(bucket));
	for (unsigned i = 0; i < 2; i++) {
		klock_init(&bucket[i]);
		klock_counted_ticket_u16_set_element(&bucket[i], "bucket", i);
		klock_counted_ticket_u16_list_counts(&bucket[i]);
		flags = klock_lock_irqsave(&bucket[i]);
		klock_unlock_irqrestore(&bucket[i], flags);
	}
	contend();
	print();
	expect(strstr(table, "    each, the worst first:\n"
			     "           2            1     500 ") != 0,
	       "the worst first");
	expect(strstr(table, " queue\n") != 0, "its name");
	expect(strstr(table, " bucket[1]\n") != 0, "an element's");
	expect(strstr(table, "           2            0       0               0"
			     "           0 2 bucket\n") != 0,
	       "all of one name");
	klock_reset_counts();
	print();
	expect(strstr(table, "           0            0       0               0"
			     "           0 queue\n") != 0,
	       "a reset");
	klock_counted_ticket_u8_forget_counts(&queue);
	print();
	expect(strstr(table, "queue") == 0, "gone");
}

/* -- Locks that are held before anybody runs -- */

#define OPEN_EACH(x, init)                                                     \
	{                                                                      \
		static struct klock_##x gate = init;                           \
                                                                               \
		expect(klock_is_locked(&gate), #x " is held");                 \
		klock_unlock(&gate);                                           \
		expect(!klock_is_locked(&gate), #x " is open");                \
		if (failures)                                                  \
			exit(1);                                               \
		klock_lock(&gate);                                             \
		klock_unlock(&gate);                                           \
		expect(!klock_is_locked(&gate), #x " is open again");          \
	}

static void held_from_the_start(void)
{
	OPEN_EACH(ticket_u8, KLOCK_TICKET_INIT_HELD)
	OPEN_EACH(ticket_u32, KLOCK_TICKET_INIT_HELD)
	OPEN_EACH(narrow_ticket_2, KLOCK_NARROW_TICKET_INIT_HELD(2))
	OPEN_EACH(narrow_ticket_4, KLOCK_NARROW_TICKET_INIT_HELD(4))
	OPEN_EACH(padded_ticket_u16, KLOCK_PADDED_TICKET_INIT_HELD)
	OPEN_EACH(preemptable_ticket_u8, KLOCK_PREEMPTABLE_TICKET_INIT_HELD)
	OPEN_EACH(proportional_ticket_u8,
		  KLOCK_PROPORTIONAL_TICKET_INIT_HELD(8))
	OPEN_EACH(tas, KLOCK_TAS_INIT_HELD)
	OPEN_EACH(tas_u32, KLOCK_TAS_INIT_HELD)
	OPEN_EACH(ttas, KLOCK_TTAS_INIT_HELD)
	OPEN_EACH(ttas_u32, KLOCK_TTAS_INIT_HELD)
	OPEN_EACH(backoff_ttas, KLOCK_BACKOFF_TTAS_INIT_HELD)
}

/* -- Sequences, once, barriers -- */

/* In words, and byte by byte: of no aligned length. */
struct moment {
	unsigned long seconds, parts, zone, era;
};
static struct klock_seq_count clock_seq = KLOCK_SEQ_COUNT_INIT;
static struct moment now = {1, 1, 1, 1};
static struct klock_seq_count text_seq;
static char text[odd];

static struct klock_barrier meeting = KLOCK_BARRIER_INIT;
static struct klock_once tables[rounds];
static unsigned runs[rounds];
static unsigned wrote[threads];

static int make(void *with) { return ++*(unsigned *)with > 0; }

static int fail_once(void *with)
{
	unsigned *tries = with;

	return (*tries)++ != 0;
}

static void alone(void)
{
	struct moment seen, next = {2, 2, 2, 2};
	unsigned began, tries = 0;
	struct klock_once once;
	struct klock_barrier one;

	klock_seq_count_read(&clock_seq, &seen, &now, sizeof(now));
	expect(seen.era == 1, "what the initialiser left is read");
	klock_seq_count_write(&clock_seq, &now, &next, sizeof(now));
	expect(klock_seq_count_try_read(&clock_seq, &seen, &now, sizeof(now)) &&
		       seen.seconds == 2 && seen.era == 2,
	       "what was written is read");
	began = klock_seq_count_read_begin(&clock_seq);
	expect(!klock_seq_count_read_retry(&clock_seq, began), "nobody wrote");
	klock_seq_count_write_begin(&clock_seq);
	expect(klock_seq_count_is_written(&clock_seq), "a writer is inside");
	expect(!klock_seq_count_try_read(&clock_seq, &seen, &now, sizeof(now)),
	       "and nobody reads");
	expect(!klock_seq_count_read_try_begin(&clock_seq, &began),
	       "or begins to");
	klock_seq_count_write_end(&clock_seq);
	expect(klock_seq_count_read_retry(&clock_seq, began),
	       "a reader is told of it");
	memset(&text_seq, 0xff, sizeof(text_seq));
	klock_seq_count_init(&text_seq);
	expect(!klock_seq_count_is_written(&text_seq), "init: none is inside");

	memset(&once, 0xa5, sizeof(once));
	klock_once_init(&once);
	expect(!klock_once_call(&once, fail_once, &tries), "the first fails");
	expect(!klock_once_is_done(&once), "and it is not done");
	expect(klock_once_call(&once, fail_once, &tries), "the next is right");
	expect(klock_once_call(&once, fail_once, &tries) && tries == 2,
	       "and then nobody runs it");
	expect(klock_once_is_done(&once), "it is done");

	memset(&one, 0xa5, sizeof(one));
	klock_barrier_init(&one);
	expect(klock_barrier_wait(&one, 1) && klock_barrier_wait(&one, 1),
	       "one alone is the last");
}

static void look(void)
{
	struct moment seen;
	char copy[odd];

	klock_seq_count_read(&clock_seq, &seen, &now, sizeof(now));
	expect(seen.seconds == seen.parts && seen.parts == seen.zone &&
		       seen.zone == seen.era,
	       "a whole moment");
	klock_seq_count_read(&text_seq, copy, text, sizeof(text));
	expect(!memcmp(copy, copy + 1, odd - 1), "a whole text");
	if (klock_seq_count_try_read(&clock_seq, &seen, &now, sizeof(now)))
		expect(seen.seconds == seen.era, "a whole moment by try_read");
}

static void set(unsigned round)
{
	const struct moment next = {round, round, round, round};
	char filled[odd];

	memset(filled, (int)(round % 100), sizeof(filled));
	klock_seq_count_write(&clock_seq, &now, &next, sizeof(now));
	klock_seq_count_write(&text_seq, text, filled, sizeof(text));
}

static void *run(void *arg)
{
	unsigned round, other;

	self = *(unsigned *)arg;
	for (round = 0; round < rounds; round++) {
		expect(klock_once_call(&tables[round], make, &runs[round]),
		       "done");
		expect(runs[round] == 1, "done once");
		if (self == 0)
			set(round);
		else
			look();
		if (round % 100 != 0)
			continue;
		wrote[self] = round;
		klock_barrier_wait(&meeting, threads);
		for (other = 0; other < threads; other++)
			expect(wrote[other] == round, "all have arrived");
		klock_barrier_wait(&meeting, threads);
	}
	return 0;
}

static int again(void *with) { return klock_once_call(with, again, with); }

/* A wait that never ends costs CPU time; a machine that stands still does not.
 */
static void limit_cpu_time(void)
{
	const struct rlimit most = {60, 60};

	setrlimit(RLIMIT_CPU, &most);
}

int main(void)
{
	static unsigned numbers[threads] = {0, 1, 2};
	pthread_t ids[threads];
	static struct klock_once itself;
	int i;

	limit_cpu_time();
	counts();
	held_from_the_start();
	out_of_order();
	alone();
	for (i = 0; i < threads; i++)
		pthread_create(&ids[i], 0, run, &numbers[i]);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], 0);
	expected_panic = "called again by the CPU that runs it";
	klock_once_call(&itself, again, &itself);
	puts("not so: a function that calls itself is named");
	return 1;
}
