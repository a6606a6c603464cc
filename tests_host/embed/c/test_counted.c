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

static void *take(void *lock)
{
	klock_counted_ticket_u8_lock(lock);
	klock_counted_ticket_u8_unlock(lock);
	return 0;
}

static void contend(void)
{
	pthread_t other;

	klock_counted_ticket_u8_lock(&queue);
	pthread_create(&other, 0, take, &queue);
	while (!klock_counted_ticket_u8_is_contended(&queue))
		sched_yield();
	klock_counted_ticket_u8_unlock(&queue);
	pthread_join(other, 0);
}

static void print(void)
{
	text[0] = 0;
	klock_print_counts(put, 0);
}

int main(void)
{
	unsigned long flags;

	memset(bucket, 0xff, sizeof(bucket));
	for (unsigned i = 0; i < 2; i++) {
		klock_counted_ticket_u16_init(&bucket[i]);
		klock_counted_ticket_u16_set_element(&bucket[i], "bucket", i);
		klock_counted_ticket_u16_list_counts(&bucket[i]);
		flags = klock_counted_ticket_u16_lock_irqsave(&bucket[i]);
		klock_counted_ticket_u16_unlock_irqrestore(&bucket[i], flags);
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
