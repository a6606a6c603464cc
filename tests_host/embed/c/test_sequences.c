/* SPDX-License-Identifier: MIT */
/*
 * klock_seq_count, klock_once, klock_barrier from C, on a host: each verb
 * alone, then three threads.
 */
#include <klock/klock.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		puts("all is whole");
		exit(failures != 0);
	}
	printf("panic: %s at %p, CPU %u: %s\n", name, address, cpu, what);
	exit(1);
}

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

int main(void)
{
	static unsigned numbers[threads] = {0, 1, 2};
	pthread_t ids[threads];
	static struct klock_once itself;
	int i;

	alarm(60);
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
