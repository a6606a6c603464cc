/* SPDX-License-Identifier: MIT */
/*
 * Every lock of klock.h, from C, on a host: each verb alone, as the static
 * initialiser left the lock and as init leaves it; then four threads that count
 * under it.
 */
#include "kinds.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { each = 500, patience = 60 /* s: a test that hangs says where */ };

static unsigned count;
static int failures;
static const char *now;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("%s: not so: %s\n", now, what);
		failures++;
	}
}

static void stuck(int signal)
{
	(void)signal;
	if (write(1, now, strlen(now)) > 0 &&
	    write(1, ": waits for ever\n", 17))
		_exit(1);
	_exit(2);
}

/* A held lock whose state lies would hang whatever comes next. */
static void must(int holds, const char *what)
{
	expect(holds, what);
	if (!holds)
		exit(1);
}

static void each_try(const struct kind *k)
{
	unsigned long flags = 77;

	k->take();
	self = 1;
	expect(!k->try_take(), "a try at a held lock fails");
	expect(!k->try_irqsave(&flags) && flags == 77 && klock_irqs_enabled(),
	       "and leaves interrupts as they were");
	self = 0;
	k->give();
	must(k->try_take(), "a try at a free lock succeeds");
	expect(k->is_locked(), "and holds it");
	k->give();
	must(k->try_irqsave(&flags), "one with interrupts off, too");
	expect(!klock_irqs_enabled() && k->is_locked(), "and they are off");
	k->give_irqrestore(flags);
	expect(klock_irqs_enabled(), "on again after a try");
}

/* Lower bounds alone: a busy machine makes no wait too long. */
static void each_timed_try(const struct kind *k)
{
	const unsigned long long wait = 20000;
	unsigned long long began;

	k->take();
	self = 1;
	expect(!k->try_until(0), "no deadline is waited for that is over");
	began = klock_cycles();
	expect(!k->try_until(began + wait), "a held lock is given up");
	expect(klock_cycles() - began >= wait, "when it is time");
	began = klock_cycles();
	expect(!k->try_for(wait), "so many cycles from now, too");
	expect(klock_cycles() - began >= wait, "and not before");
	self = 0;
	k->give();
	must(k->try_until(0), "a free lock is taken whatever the deadline");
	k->give();
	must(k->try_for(~0ull), "and without an end of time");
	expect(k->is_locked(), "and held");
	k->give();
}

static void each_verb(const struct kind *k)
{
	unsigned long flags;

	must(!k->is_locked(), "free at first");
	k->take();
	expect(k->is_locked(), "held");
	if (k->is_contended)
		expect(!k->is_contended(), "nobody waits");
	k->give();
	must(!k->is_locked(), "free again");
	flags = k->take_irqsave();
	expect(!klock_irqs_enabled() && k->is_locked(),
	       "interrupts off, and held");
	k->give_irqrestore(flags);
	expect(klock_irqs_enabled() && !k->is_locked(),
	       "interrupts on, and free");
	if (k->try_take) {
		each_try(k);
		each_timed_try(k);
	}
	expect(!asked_too_early, "asked with interrupts off");
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

struct job {
	const struct kind *k;
	unsigned by;
};

static void *take_once(void *arg)
{
	const struct job *j = arg;

	self = j->by;
	j->k->take();
	j->k->give();
	return 0;
}

static void somebody_waits(const struct kind *k)
{
	struct job waiter = {k, 1};
	pthread_t id;

	k->take();
	pthread_create(&id, 0, take_once, &waiter);
	while (!k->is_contended())
		;
	k->give();
	pthread_join(id, 0);
}

static void *work(void *arg)
{
	const struct job *j = arg;

	self = j->by;
	for (int i = 0; i < each; i++) {
		unsigned long flags = j->k->take_irqsave();

		count++;
		j->k->give_irqrestore(flags);
	}
	return 0;
}

static void threads_count(const struct kind *k)
{
	pthread_t ids[threads];
	struct job jobs[threads];

	count = 0;
	for (unsigned i = 0; i < threads; i++) {
		jobs[i] = (struct job){k, i};
		pthread_create(&ids[i], 0, work, &jobs[i]);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], 0);
	expect(count == threads * each, "every count is there");
}

static void proportional_bases(void)
{
	now = "proportional_ticket_u8";
	proportional_u8_init();
	expect(INNER(proportional_u8).klock_base == KLOCK_PROPORTIONAL_BASE,
	       "init gives the base of C++");
	klock_set_base(&proportional_u8, 3);
	klock_set_base(&proportional_u16, 3);
	klock_set_base(&proportional_u32, 3);
	expect(INNER(proportional_u8).klock_base == 3 &&
		       INNER(proportional_u16).klock_base == 3 &&
		       INNER(proportional_u32).klock_base == 3,
	       "set_base");
}

int main(void)
{
	now = "klock_version";
	expect(strlen(klock_version()) >= 5, "a version");
	signal(SIGALRM, stuck);
	clh_by_init();
	proportional_bases();
	for (unsigned i = 0; i < kinds_here; i++) {
		const struct kind *k = &kinds[i];

		now = k->name;
		alarm(patience);
		each_verb(k);
		k->spoil();
		k->init();
		each_verb(k);
		if (k->is_contended)
			somebody_waits(k);
		threads_count(k);
	}
	if (!failures)
		printf("%u locks, %d threads each: all counts are right\n",
		       kinds_here, threads);
	return failures != 0;
}
