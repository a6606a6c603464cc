/* SPDX-License-Identifier: MIT */
/*
 * The locks of klock.h that readers share, from C, on a host: each verb alone,
 * as the static initialiser left the lock and as init leaves it; then two
 * readers who meet inside, and two writers under whom nothing is torn.
 */
#include "readers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { each = 500, patience = 60 /* s: a test that hangs ends */ };

static int failures;
static const char *now;

/* Written under the lock, together. */
static unsigned a, b;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("%s: not so: %s\n", now, what);
		failures++;
	}
}

#ifdef CHECKED
/* The kernel's: nothing here is misuse. */
int klock_os_context(void) { return 0; }
void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned cpu, const char *what)
{
	printf("panic: %s at %p, CPU %u: %s\n", lock_name, lock_address, cpu,
	       what);
	exit(1);
}
#endif

/* Who holds is 0; the others are asked without waiting. */
static void under_a_writer(const struct shared_kind *k)
{
	unsigned long flags = 77;

	k->writer.take();
	self = 1;
	expect(!k->reader.try_take(), "no reader beside a writer");
	expect(!k->reader.try_irqsave(&flags) && flags == 77 &&
		       klock_irqs_enabled(),
	       "and interrupts are as they were");
	self = 0;
	k->writer.give();
}

static void under_a_reader(const struct shared_kind *k)
{
	unsigned long flags;

	k->reader.take();
	expect(k->reader.is_locked(), "a reader is in");
	self = 1;
	if (k->writer.try_take)
		expect(!k->writer.try_take(), "no writer beside a reader");
	if (!k->reader.try_take()) {
		expect(0, "a reader beside a reader");
		exit(1);
	}
	k->reader.give();
	if (!k->reader.try_irqsave(&flags)) {
		expect(0, "a reader with interrupts off");
		exit(1);
	}
	expect(!klock_irqs_enabled(), "interrupts are off");
	k->reader.give_irqrestore(flags);
	flags = k->reader.take_irqsave();
	expect(!klock_irqs_enabled(), "off");
	k->reader.give_irqrestore(flags);
	expect(klock_irqs_enabled(), "and on");
	self = 0;
	expect(k->reader.is_locked(), "the first is in still");
	k->reader.give();
	expect(!k->reader.is_locked(), "nobody is");
	expect(!asked_too_early, "asked with interrupts off");
}

static void each_verb(const struct shared_kind *k)
{
	expect(!k->reader.is_locked(), "free at first");
	under_a_reader(k);
	under_a_writer(k);
	under_a_reader(k);
}

struct job {
	const struct shared_kind *k;
	unsigned by;
	atomic_uint *inside;
};

/* Each waits inside for the other. */
static void *meet(void *arg)
{
	const struct job *j = arg;

	self = j->by;
	j->k->reader.take();
	atomic_fetch_add(j->inside, 1);
	while (atomic_load(j->inside) < 2)
		;
	j->k->reader.give();
	return 0;
}

static void *work(void *arg)
{
	const struct job *j = arg;
	unsigned long flags;

	self = j->by;
	for (unsigned i = 0; i < each; i++) {
		if (j->by < 2) {
			flags = j->k->writer.take_irqsave();
			a++;
			b++;
			j->k->writer.give_irqrestore(flags);
		} else {
			flags = j->k->reader.take_irqsave();
			expect(a == b, "what is read is whole");
			j->k->reader.give_irqrestore(flags);
		}
	}
	return 0;
}

static void run(const struct shared_kind *k, void *(*what)(void *),
		unsigned count)
{
	pthread_t ids[threads];
	struct job jobs[threads];
	atomic_uint inside = 0;

	for (unsigned i = 0; i < count; i++) {
		jobs[i] = (struct job){k, i, &inside};
		pthread_create(&ids[i], 0, what, &jobs[i]);
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(ids[i], 0);
}

int main(void)
{
	clh_by_init();
	alarm(patience);
	for (unsigned i = 0; i < shared_kinds_here; i++) {
		const struct shared_kind *k = &shared_kinds[i];

		now = k->writer.name;
		each_verb(k);
		k->writer.spoil();
		k->writer.init();
		each_verb(k);
		run(k, meet, 2);
		a = b = 0;
		run(k, work, threads);
		expect(a == 2 * each && b == a, "every write is there");
	}
	if (!failures)
		printf("%u locks: readers meet, writers are alone\n",
		       shared_kinds_here);
	return failures != 0;
}
