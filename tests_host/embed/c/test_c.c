/* SPDX-License-Identifier: MIT */
/*
 * Every lock of klock.h, from C, on a host: each verb alone, as the static
 * initialiser left the lock and as init leaves it; then four threads that count
 * under it. Those that readers share: two readers who meet inside, and two
 * writers under whom nothing is torn. What sleeps: the same, in one go. In a
 * kernel that preempts: off before the lock is touched, on after it is free.
 *
 * With ORDER defined, and a library that was compiled with
 * irq/klock/arch/irq.hpp in front: interrupts go off before the lock is
 * touched, and come back after it is free.
 */
#include "kinds.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { each = 500, patience = 60 /* s of CPU time: a hang says where */ };

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

/* Looked at in the moment in which interrupts or preemption change; null: it
 * is another's. */
static const struct kind *looked_at;

/* Preemption, by its kernel: off how often, and on again how often. */
static unsigned offs, ons;

void klock_os_preempt_off(void)
{
	offs++;
	expect(!looked_at || !looked_at->is_locked(),
	       "preemption goes off before it is taken");
}

void klock_os_preempt_on(void)
{
	ons++;
	expect(!looked_at || !looked_at->is_locked(),
	       "preemption is on after it is free");
}

#ifndef ORDER

static unsigned count; /* under the lock */

/* A held lock whose state lies would hang whatever comes next. */
static void must(int holds, const char *what)
{
	expect(holds, what);
	if (!holds)
		exit(1);
}

static void each_unpreempted(const struct kind *k)
{
	looked_at = k;
	offs = ons = 0;
	k->take_unpreempted();
	expect(offs == 1 && !ons && k->is_locked(), "held, preemption off");
	k->give_preempted();
	expect(offs == 1 && ons == 1 && !k->is_locked(), "free, and on");
	if (k->try_unpreempted) {
		must(k->try_unpreempted(), "a try with preemption off");
		expect(offs == 2 && ons == 1 && k->is_locked(), "holds it");
		k->give_preempted();
		expect(ons == 2, "on after a try");
	}
	looked_at = 0;
}

static void no_try_unpreempted(const struct kind *k)
{
	offs = ons = 0;
	expect(!k->try_unpreempted(), "a try in vain");
	expect(offs == 1 && ons == 1, "leaves preemption on");
}

static void each_try(const struct kind *k)
{
	unsigned long flags = 77;

	k->take();
	self = 1;
	expect(!k->try_take(), "a try at a held lock fails");
	expect(!k->try_irqsave(&flags) && flags == 77 && klock_irqs_enabled(),
	       "and leaves interrupts as they were");
	no_try_unpreempted(k);
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
	each_unpreempted(k);
	if (k->try_take) {
		each_try(k);
		each_timed_try(k);
	}
	expect(!asked_too_early, "asked with interrupts off");
}

/* The kernel's: nothing here is misuse. */
int klock_os_context(void) { return 0; }
void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned cpu, const char *what)
{
	printf("panic: %s at %p, CPU %u: %s\n", lock_name, lock_address, cpu,
	       what);
	exit(1);
}

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
	proportional_ticket_u8_init();
	expect(INNER(proportional_ticket_u8).klock_base ==
		       KLOCK_PROPORTIONAL_BASE,
	       "init gives the base of C++");
	klock_set_base(&proportional_ticket_u8, 3);
	klock_set_base(&proportional_ticket_u16, 3);
	klock_set_base(&proportional_ticket_u32, 3);
	expect(INNER(proportional_ticket_u8).klock_base == 3 &&
		       INNER(proportional_ticket_u16).klock_base == 3 &&
		       INNER(proportional_ticket_u32).klock_base == 3,
	       "set_base");
}

/* A wait that never ends costs CPU time; a machine that stands still does not.
 */
static void limit_cpu_time(void)
{
	const struct itimerval most = {.it_value = {patience, 0}};

	setitimer(ITIMER_PROF, &most, NULL);
}

static void take_alone(const struct kind *k)
{
	now = k->name;
	limit_cpu_time();
	each_verb(k);
	k->spoil();
	k->init();
	each_verb(k);
	if (k->is_contended)
		somebody_waits(k);
	threads_count(k);
}

/* -- Readers and writers -- */

/* Written under the lock, together. */
static unsigned a, b;

/* CPU 0 holds the lock; the others try. */
static void under_a_writer(const struct shared_kind *k)
{
	unsigned long flags = 77;

	k->writer.take();
	self = 1;
	expect(!k->reader.try_take(), "no reader beside a writer");
	expect(!k->reader.try_irqsave(&flags) && flags == 77 &&
		       klock_irqs_enabled(),
	       "and interrupts are as they were");
	no_try_unpreempted(&k->reader);
	self = 0;
	if (!k->downgrade) {
		k->writer.give();
		return;
	}
	k->downgrade();
	self = 1;
	must(k->reader.try_take(), "a reader beside one that wrote");
	k->reader.give();
	expect(!k->writer.try_take(), "and no writer");
	self = 0;
	k->reader.give();
}

/* CPU 0 may write; CPU 1 is another reader. */
static void upgrades(const struct shared_kind *k)
{
	const struct kind *const one = &k->upgradable;
	unsigned long flags;

	one->take();
	expect(one->is_locked(), "held to read, perhaps to write");
	self = 1;
	expect(!one->try_take() && !k->writer.try_take(), "by one alone");
	no_try_unpreempted(one);
	must(k->reader.try_take(), "with readers");
	self = 0;
	expect(!k->try_upgrade(), "who are in the way");
	self = 1;
	k->reader.give();
	self = 0;
	k->upgrade();
	self = 1;
	expect(!k->reader.try_take(), "it writes alone");
	self = 0;
	k->downgrade();
	k->reader.give();
	must(one->try_take(), "a try");
	must(k->try_upgrade(), "and an upgrade that waits for nobody");
	k->writer.give();
	one->take();
	one->give();
	flags = one->take_irqsave();
	expect(!klock_irqs_enabled(), "interrupts off");
	one->give_irqrestore(flags);
	expect(klock_irqs_enabled(), "and on");
	flags = one->take_irqsave();
	k->upgrade();
	k->writer.give_irqrestore(flags);
	expect(klock_irqs_enabled() && !one->is_locked(), "as a writer, too");
	each_unpreempted(one);
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

static void each_shared_verb(const struct shared_kind *k)
{
	expect(!k->reader.is_locked(), "free at first");
	each_unpreempted(&k->reader);
	if (k->upgrade)
		upgrades(k);
	under_a_reader(k);
	under_a_writer(k);
	under_a_reader(k);
}

struct shared_job {
	const struct shared_kind *k;
	unsigned by;
	atomic_uint *inside;
};

/* Each waits inside for the other. */
static void *meet(void *arg)
{
	const struct shared_job *j = arg;

	self = j->by;
	j->k->reader.take();
	atomic_fetch_add(j->inside, 1);
	while (atomic_load(j->inside) < 2)
		;
	j->k->reader.give();
	return 0;
}

static void *read_and_write(void *arg)
{
	const struct shared_job *j = arg;
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
	struct shared_job jobs[threads];
	atomic_uint inside = 0;

	for (unsigned i = 0; i < count; i++) {
		jobs[i] = (struct shared_job){k, i, &inside};
		pthread_create(&ids[i], 0, what, &jobs[i]);
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(ids[i], 0);
}

static void share(const struct shared_kind *k)
{
	now = k->writer.name;
	limit_cpu_time();
	each_shared_verb(k);
	k->writer.spoil();
	k->writer.init();
	each_shared_verb(k);
	run(k, meet, 2);
	a = b = 0;
	run(k, read_and_write, threads);
	expect(a == 2 * each && b == a, "every write is there");
}

/* -- Locks that sleep, by the host's threads -- */

enum { soon = 20000 /* cycles */ };

/* clang-format off */
static struct KLOCK(mutex) files = FIRST(files, KLOCK_MUTEX_INIT);
static struct KLOCK(shared_mutex) names = FIRST(names, KLOCK_SHARED_MUTEX_INIT);
static struct KLOCK(inheriting_mutex) lends =
	FIRST(lends, KLOCK_INHERITING_MUTEX_INIT);
static struct KLOCK(semaphore) jobs = FIRST(jobs, KLOCK_SEMAPHORE_INIT(2));
static struct KLOCK(completion) done = FIRST(done, KLOCK_COMPLETION_INIT);
static struct KLOCK(condition) changed = FIRST(changed, KLOCK_CONDITION_INIT);
static struct KLOCK(condition) spun = FIRST(spun, KLOCK_CONDITION_INIT);
static struct KLOCK(wait_queue) arrivals = FIRST(arrivals, KLOCK_WAIT_QUEUE_INIT);
static struct KLOCK(mcs) ring = FIRST(ring, KLOCK_MCS_INIT);
/* clang-format on */

/* Units to take: announced by arrivals; under files; under ring. */
static unsigned stock[3];

static int take_one(void *of)
{
	unsigned *there = of;

	return *there && (*there)--;
}

static void put_one(void *of) { ++*(unsigned *)of; }

static void init_sleepers(void)
{
	void *const all[] = {&files,   &names, &jobs,	  &done,
			     &changed, &spun,  &arrivals, &lends};
	const size_t bytes[] = {sizeof(files),	  sizeof(names),   sizeof(jobs),
				sizeof(done),	  sizeof(changed), sizeof(spun),
				sizeof(arrivals), sizeof(lends)};

	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		memset(all[i], 0xa5, bytes[i]);
	klock_init(&files);
	klock_init(&names);
	klock_init(&lends);
	klock_init(&jobs, 2);
	klock_init(&done);
	klock_init(&changed);
	klock_init(&spun);
	klock_init(&arrivals);
}

static void held_by_another(void)
{
	klock_lock(&files);
	klock_lock(&names);
	expect(klock_is_locked(&files) && !klock_is_contended(&files), "held");
	expect(klock_is_locked(&names) && !klock_is_contended(&names), "held");
	self = 1;
	expect(klock_why_ended(klock_try_lock_until(&files, 0), 0) ==
			       klock_wait_deadline &&
		       klock_why_ended(0, ~0ull) == klock_wait_killed &&
		       klock_why_ended(1, 0) == klock_wait_had,
	       "a wait ended for another reason");
	expect(!klock_try_lock(&files) && !klock_try_lock_until(&files, 0) &&
		       !klock_try_lock_for(&files, soon),
	       "a held mutex is not had");
	expect(!klock_try_lock(&names) && !klock_try_lock_until(&names, 0) &&
		       !klock_try_lock_for(&names, soon),
	       "a written shared_mutex is not had");
	expect(!klock_try_lock_shared(&names) &&
		       !klock_try_lock_shared_until(&names, 0) &&
		       !klock_try_lock_shared_for(&names, soon),
	       "nor read");
	self = 0;
	klock_downgrade(&names);
	self = 1;
	must(klock_try_lock_shared_until(&names, 0), "two read it");
	klock_unlock_shared(&names);
	self = 0;
	klock_unlock_shared(&names);
	must(klock_try_lock(&names), "it is free");
	klock_unlock(&names);
	klock_unlock(&files);
	expect(!klock_is_locked(&files) && !klock_is_locked(&names),
	       "free again");
}

static struct klock_mcs_node ring_nodes[threads];
static struct klock_mcs_node *my_ring_node(void) { return &ring_nodes[self]; }

static void each_wait(void)
{
	struct klock_mcs_node mine;
	unsigned long flags;

	expect(klock_try_acquire(&jobs) && klock_try_acquire_until(&jobs, 0) &&
		       !klock_try_acquire(&jobs) &&
		       !klock_try_acquire_for(&jobs, soon),
	       "two units, and no more");
	expect(!klock_is_set(&done) && !klock_is_contended(&done) &&
		       !klock_wait_until(&done, 0) &&
		       !klock_wait_for(&done, soon),
	       "not set");
	klock_set(&done);
	klock_wait(&done);
	expect(klock_is_set(&done) && klock_wait_until(&done, 0), "set");
	klock_reset(&done);
	expect(!klock_is_set(&done), "for its next use");
	expect(!klock_wait_until(&arrivals, take_one, &stock[0], 0) &&
		       !klock_wait_for(&arrivals, take_one, &stock[0], soon),
	       "empty");
	klock_wake_all(&arrivals, put_one, &stock[0]);
	klock_wait(&arrivals, take_one, &stock[0]);
	expect(KLOCK_SLEEP_BETWEEN(&spun, &(unsigned long long){0},
				   klock_notify_one(&spun), (void)0),
	       "who comes before it sleeps is heard");
	klock_lock(&ring, &mine);
	expect(!klock_wait_with_until(&spun, 0, &ring, &mine) &&
		       !klock_wait_with_for(&spun, soon, &ring, &mine),
	       "nobody came");
	klock_unlock(&ring, &mine);
	offs = ons = 0;
	klock_lock_preempt_off(&ring, &mine);
	expect(!klock_wait_with_preempt_off_until(&spun, 0, &ring, &mine) &&
		       offs == 2 && ons == 1 &&
		       !klock_wait_with_preempt_off_for(&spun, soon, &ring,
							&mine) &&
		       offs == 3 && ons == 2,
	       "nobody came, and preemption was on meanwhile");
	klock_unlock_preempt_on(&ring, &mine);
	flags = klock_lock_irqsave(&ring, my_ring_node());
	expect(!klock_wait_with_irqsave_until(&spun, 0, flags, &ring,
					      my_ring_node()) &&
		       !klock_wait_with_irqsave_for(&spun, soon, flags, &ring,
						    my_ring_node()) &&
		       !klock_irqs_enabled(),
	       "nobody came, and off again");
	klock_unlock_irqrestore(&ring, my_ring_node(), flags);
	expect(klock_irqs_enabled(), "on again");
}

static void bring(void)
{
	unsigned long flags;

	klock_release(&jobs);
	klock_wake_one(&arrivals, put_one, &stock[0]);
	klock_lock(&files);
	put_one(&stock[1]);
	klock_unlock(&files);
	klock_notify_one(&changed);
	flags = klock_lock_irqsave(&ring, my_ring_node());
	put_one(&stock[2]);
	klock_notify_all(&spun);
	klock_unlock_irqrestore(&ring, my_ring_node(), flags);
}

static void fetch(void)
{
	unsigned long flags;

	klock_acquire(&jobs);
	klock_wait(&arrivals, take_one, &stock[0]);
	klock_lock(&files);
	while (!take_one(&stock[1]))
		klock_wait_with(&changed, &files);
	klock_unlock(&files);
	flags = klock_lock_irqsave(&ring, my_ring_node());
	while (!take_one(&stock[2]))
		klock_wait_with_irqsave(&spun, flags, &ring, my_ring_node());
	expect(!klock_irqs_enabled(), "off again");
	klock_unlock_irqrestore(&ring, my_ring_node(), flags);
}

/* Another that comes in between waits. */
static void count_slowly(void)
{
	unsigned seen;

	klock_lock(&lends);
	seen = count;
	sched_yield();
	count = seen + 1;
	klock_unlock(&lends);
}

static void *bring_and_fetch(void *arg)
{
	self = ((const struct shared_job *)arg)->by;
	for (unsigned i = 0; i < each; i++) {
		self % 2 ? bring() : fetch();
		count_slowly();
		if (i % threads == self) {
			klock_lock(&names);
			a++;
			b++;
			klock_downgrade(&names);
		} else {
			klock_lock_shared(&names);
		}
		expect(a == b, "what is read is whole");
		klock_unlock_shared(&names);
	}
	if (self)
		klock_wait(&done);
	else
		klock_set(&done);
	return 0;
}

static void sleepers(void)
{
	now = "what sleeps";
	alarm(10 * patience); /* a sleeper that is lost costs no time */
	held_by_another();
	each_wait();
	init_sleepers();
	held_by_another();
	each_wait();
	a = b = count = 0;
	run(0, bring_and_fetch, threads);
	expect(a == each && b == each && count == threads * each,
	       "every write is there");
	expect(!klock_try_acquire(&jobs) && !stock[0] && !stock[1] && !stock[2],
	       "whatever is brought is taken");
}

/* Its owner takes it again and again; another, after the last unlock. */
static void recursive_depth(void)
{
	now = "recursive_ticket_u8";
	recursive_ticket_u8_init();
	klock_lock(&recursive_ticket_u8);
	must(klock_try_lock(&recursive_ticket_u8), "a try by its owner");
	klock_lock(&recursive_ticket_u8);
	for (int left = 2; left >= 0; left--) {
		self = 1;
		expect(!klock_try_lock(&recursive_ticket_u8),
		       "no try by another, at any depth");
		self = 0;
		klock_unlock(&recursive_ticket_u8);
		expect(klock_is_locked(&recursive_ticket_u8) == (left > 0),
		       "held until the last unlock");
	}
}

static void each_kind(void)
{
	now = "klock_version";
	expect(strlen(klock_version()) >= 5, "a version");
	expect(klock_deadline_in(~0ull) == ~0ull &&
		       klock_deadline_in(~0ull >> 1) > ~0ull >> 1,
	       "a deadline, and the end of time");
	proportional_bases();
	recursive_depth();
	for (unsigned i = 0; i < kinds_here; i++)
		take_alone(&kinds[i]);
	for (unsigned i = 0; i < shared_kinds_here; i++)
		share(&shared_kinds[i]);
	sleepers();
	if (failures)
		return;
	printf("%u locks, %d threads each: all counts are right\n", kinds_here,
	       threads);
	printf("%u locks: readers meet, writers are alone\n",
	       shared_kinds_here);
}

#else
/* -- Interrupts -- */

static int times_off, times_back;

void irqs_go_off(void);
void irqs_come_back(void);

void irqs_go_off(void)
{
	times_off++;
	expect(!looked_at->is_locked(), "interrupts go off before it is taken");
}

void irqs_come_back(void)
{
	times_back++;
	expect(!looked_at->is_locked(),
	       "interrupts come back after it is free");
}

static void in_order(const struct kind *k)
{
	unsigned long flags;

	now = k->name;
	looked_at = k;
	times_off = times_back = 0;
	flags = k->take_irqsave();
	expect(times_off == 1 && !times_back, "off once, to take it");
	k->give_irqrestore(flags);
	expect(times_off == 1 && times_back == 1, "back once, to give it up");
	if (k->try_irqsave && k->try_irqsave(&flags)) {
		expect(times_off == 2 && times_back == 1, "off for a try");
		k->give_irqrestore(flags);
		expect(times_back == 2, "and back");
	}
	expect(!asked_too_early, "asked with interrupts off");
}

static void each_in_order(void)
{
	for (unsigned i = 0; i < kinds_here; i++)
		in_order(&kinds[i]);
	for (unsigned i = 0; i < shared_kinds_here; i++)
		in_order(&shared_kinds[i].reader);
	if (!failures)
		printf("%u locks: interrupts off first, back last\n",
		       kinds_here);
}
#endif

int main(void)
{
	signal(SIGALRM, stuck);
	signal(SIGPROF, stuck);
	clh_by_init();
#ifdef ORDER
	each_in_order();
#else
	each_kind();
#endif
	return failures != 0;
}
