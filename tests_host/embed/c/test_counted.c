/* SPDX-License-Identifier: MIT */
/*
 * Locks that count, from C: who is waited for stands in the table, first.
 */
#include <klock/klock.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static struct klock_counted_ticket_u8 queue =
	KLOCK_COUNTED_INIT("queue", KLOCK_TICKET_INIT);
static struct klock_counted_ticket_u16 bucket[2];

static char text[2000];
static int failures;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s; %s\n", what, text);
		failures++;
	}
}

static void put(const char *line, void *with)
{
	(void)with;
	strcat(strcat(text, line), "\n");
}

static void *take(void *unused)
{
	klock_lock(&queue);
	klock_unlock(&queue);
	return unused;
}

static void contend(void)
{
	pthread_t other;

	klock_lock(&queue);
	pthread_create(&other, 0, take, 0);
	while (!klock_is_contended(&queue))
		sched_yield();
	klock_unlock(&queue);
	pthread_join(other, 0);
}

static void print(void)
{
	text[0] = 0;
	klock_print_counts(put, 0);
}

unsigned klock_os_cpu_id(void) { return 0; }

/* Taken once, once by try_lock, and one try fails; in the table, and out. */
#define COUNT_EACH(x, init)                                                    \
	static void count_##x(void)                                            \
	{                                                                      \
		static struct klock_counted_##x lock =                         \
			KLOCK_COUNTED_INIT(#x, init);                          \
                                                                               \
		klock_lock(&lock);                                             \
		expect(!klock_try_lock(&lock), #x " is held");                 \
		klock_unlock(&lock);                                           \
		expect(klock_try_lock(&lock), #x " is free");                  \
		klock_unlock(&lock);                                           \
		klock_counted_##x##_list_counts(&lock);                        \
		print();                                                       \
		expect(strstr(text, TWICE #x "\n") != 0, #x);                  \
		klock_counted_##x##_forget_counts(&lock);                      \
		print();                                                       \
		expect(strstr(text, #x) == 0, #x " is gone");                  \
	}
#define TWICE "           2            0       0               0           0 "

COUNT_EACH(ticket_u32, KLOCK_TICKET_INIT)
COUNT_EACH(preemptable_ticket_u8, KLOCK_PREEMPTABLE_TICKET_INIT)
COUNT_EACH(preemptable_ticket_u16, KLOCK_PREEMPTABLE_TICKET_INIT)
COUNT_EACH(tas, KLOCK_TAS_INIT)
COUNT_EACH(backoff_ttas, KLOCK_BACKOFF_TTAS_INIT)
COUNT_EACH(queued_64, KLOCK_QUEUED_INIT)
COUNT_EACH(queued_256, KLOCK_QUEUED_INIT)
COUNT_EACH(rw_ticket_u8, KLOCK_RW_TICKET_INIT)
COUNT_EACH(rw_ticket_u16, KLOCK_RW_TICKET_INIT)

static void count_all(void)
{
	count_ticket_u32();
	count_preemptable_ticket_u8();
	count_preemptable_ticket_u16();
	count_tas();
	count_backoff_ttas();
	count_queued_64();
	count_queued_256();
	count_rw_ticket_u8();
	count_rw_ticket_u16();
}

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
	expect(strstr(text, TWICE "routes, readers\n") != 0, "readers");
	expect(strstr(text, " routes\n") != 0, "and writers");
	klock_counted_rw_ticket_u8_forget_counts(&routes);
	print();
	expect(strstr(text, "routes") == 0, "both are gone");
	memset(&routes, 0xff, sizeof(routes));
	klock_init(&routes);
	klock_counted_rw_ticket_u8_set_element(&routes, "table", 4);
	klock_counted_rw_ticket_u8_list_counts(&routes);
	print();
	expect(strstr(text, " table[4], readers\n") != 0, "an element's");
	klock_counted_rw_ticket_u8_forget_counts(&routes);
}

int main(void)
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
	expect(strstr(text, "           2            1     500 ") ==
		       strchr(text, '\n') + 1,
	       "the worst first");
	expect(strstr(text, " queue\n") != 0, "its name");
	expect(strstr(text, " bucket[1]\n") != 0, "an element's");
	expect(strstr(text, "           2            0       0               0"
			    "           0 2 bucket\n") != 0,
	       "all of one name");
	klock_reset_counts();
	print();
	expect(strstr(text, "           0            0       0               0"
			    "           0 queue\n") != 0,
	       "a reset");
	klock_counted_ticket_u8_forget_counts(&queue);
	print();
	expect(strstr(text, "queue") == 0, "gone");
	if (!failures)
		puts("every wait is counted");
	return failures != 0;
}
