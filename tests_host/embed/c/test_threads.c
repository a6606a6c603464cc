/* SPDX-License-Identifier: MIT */
/*
 * The locks that sleep, from C, by a scheduler of its own: one program plays
 * three threads of three priorities, and who sleeps lets the others go on. Why
 * each wait by a deadline ended; how often each wait without one parks; who
 * inherits which priority. With CHECKED defined, the same of the checked forms.
 */
#include <klock/klock.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef CHECKED
#define KLOCK(x) klock_checked_##x
#define FIRST(k, ...) KLOCK_CHECKED_INIT(#k, __VA_ARGS__)
#define INNER(k) (k).klock_inner

struct klock_lock_order *klock_os_lock_order(void)
{
	return klock_lock_order_8_noted();
}
void klock_os_note(const char *text) { (void)text; }
#else
#define KLOCK(x) klock_##x
#define FIRST(k, ...) __VA_ARGS__
#define INNER(k) (k)
#endif

static int failures;
static const char *now;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("%s: not so: %s\n", now, what);
		failures++;
	}
}

/* -- The kernel -- */

enum { low, middle, high, threads };

/* As long as these, they run with it; the first is klock's. */
struct thread {
	struct klock_inheriting_thread klock;
	unsigned runs_with;
};

static struct thread all[threads] = {
	{KLOCK_INHERITING_THREAD_INIT(1), 1},
	{KLOCK_INHERITING_THREAD_INIT(2), 2},
	{KLOCK_INHERITING_THREAD_INIT(3), 3},
};
static unsigned self;
static int context; /* 1: a handler */

/* Lets the others run while the caller sleeps. */
static void (*meanwhile)(void);

/* kill() was called: waits by a deadline end. */
static int killed;

static int others_go_on(void)
{
	void (*const others)(void) = meanwhile;
	const unsigned sleeper = self;

	meanwhile = 0;
	if (others)
		others();
	self = sleeper;
	return others != 0;
}

unsigned klock_os_cpu_id(void) { return 0; }
int klock_os_context(void) { return context; }
__SIZE_TYPE__ klock_os_thread(void) { return self; }
void klock_os_unpark(__SIZE_TYPE__ thread) { (void)thread; }
void klock_os_unparked(void) {}
void klock_os_preempt_off(void) {}
void klock_os_preempt_on(void) {}

void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned cpu, const char *what)
{
	printf("%s: %s %p, CPU %u: %s\n", now, lock_name, lock_address, cpu,
	       what);
	exit(1);
}

static unsigned parks, parks_until;

void klock_os_park(void)
{
	parks++;
	if (!others_go_on())
		klock_os_panic("none", 0, 0, "sleeps for ever");
}

_Bool klock_os_park_until(unsigned long long deadline)
{
	parks_until++;
	if (!others_go_on() && !killed && deadline == ~0ull)
		klock_os_panic("none", 0, 0, "sleeps for ever");
	return !killed && klock_cycles() < deadline;
}

struct klock_inheriting_thread *klock_os_inheriting_thread(void)
{
	return &all[self].klock;
}

void klock_os_run_with_priority(struct klock_inheriting_thread *thread,
				unsigned priority)
{
	expect(!klock_irqs_enabled(), "interrupts off");
	((struct thread *)thread)->runs_with = priority;
}

static int run_with(unsigned a, unsigned b, unsigned c)
{
	return all[low].runs_with == a && all[middle].runs_with == b &&
	       all[high].runs_with == c;
}

/* -- Why a wait ended: had, deadline, killed -- */

/* clang-format off */
static struct KLOCK(mutex) files = FIRST(files, KLOCK_MUTEX_INIT);
static struct KLOCK(shared_mutex) names = FIRST(names, KLOCK_SHARED_MUTEX_INIT);
static struct KLOCK(inheriting_mutex) bus = FIRST(bus, KLOCK_INHERITING_MUTEX_INIT);
static struct KLOCK(inheriting_mutex) disk = FIRST(disk, KLOCK_INHERITING_MUTEX_INIT);
static struct KLOCK(ticket_u8) ring = FIRST(ring, KLOCK_TICKET_INIT);
static struct KLOCK(semaphore) jobs = FIRST(jobs, KLOCK_SEMAPHORE_INIT(0));
static struct KLOCK(completion) done = FIRST(done, KLOCK_COMPLETION_INIT);
static struct KLOCK(condition) changed = FIRST(changed, KLOCK_CONDITION_INIT);
static struct KLOCK(wait_queue) arrivals = FIRST(arrivals, KLOCK_WAIT_QUEUE_INIT);
/* clang-format on */

typedef unsigned long long cycles;

/* A wait, with a deadline and without: what is awaited is not there until
 * bring(), by another, and take_back() makes it so again. */
struct wait {
	const char *name;
	enum klock_wait_result (*why)(cycles deadline); /* null: none */
	void (*for_ever)(void);				/* null: none */
	void (*hold)(void);
	void (*bring)(void);
	void (*take_back)(void);
};

#define WHY(name, had)                                                         \
	static enum klock_wait_result name##_ended(cycles deadline)            \
	{                                                                      \
		return klock_why_ended(had, deadline);                         \
	}
#define DOES(name, what)                                                       \
	static void name(void) { what; }

static int there;
static int arrived(void *with) { return *(int *)with; }
static void put_one(void *with) { *(int *)with = 1; }

static int changes_by(cycles deadline)
{
	int had;

	klock_lock(&files);
	had = klock_wait_with_until(&changed, deadline, &files);
	klock_unlock(&files);
	return had;
}

static int sleeps_by(cycles deadline)
{
	struct klock_sleeper me;

	klock_prepare(&changed, &me);
	return klock_sleep(&changed, &me, &deadline);
}

static void nothing(void) {}

WHY(lock, klock_try_lock_until(&files, deadline))
DOES(lock_files, klock_lock(&files))
DOES(unlock_files, klock_unlock(&files))
WHY(write, klock_try_lock_until(&names, deadline))
WHY(read, klock_try_lock_shared_until(&names, deadline))
DOES(lock_names, klock_lock(&names))
DOES(unlock_names, klock_unlock(&names))
DOES(stop_reading, klock_unlock_shared(&names))
WHY(try_bus, klock_try_lock_until(&bus, deadline))
DOES(lock_bus, klock_lock(&bus))
DOES(unlock_bus, klock_unlock(&bus))
WHY(acquire, klock_try_acquire_until(&jobs, deadline))
DOES(release, klock_release(&jobs))
WHY(completion, klock_wait_until(&done, deadline))
DOES(set, klock_set(&done))
DOES(reset, klock_reset(&done))
WHY(condition, changes_by(deadline))
WHY(sleep, sleeps_by(deadline))
DOES(notify, klock_notify_one(&changed))
WHY(queue, klock_wait_until(&arrivals, arrived, &there, deadline))
DOES(wake, klock_wake_one(&arrivals, put_one, &there))
DOES(empty, there = 0)

static enum klock_wait_result bus_ended(cycles deadline)
{
	return klock_lock_until(&bus, deadline);
}

DOES(read_names, klock_lock_shared(&names))
DOES(take_unit, klock_acquire(&jobs))
DOES(wait_done, klock_wait(&done))
DOES(wait_arrival, klock_wait(&arrivals, arrived, &there))

static void wait_changed(void)
{
	klock_lock(&files);
	klock_wait_with(&changed, &files);
	klock_unlock(&files);
}

static void wait_changed_irqsave(void)
{
	unsigned long flags = klock_lock_irqsave(&ring);

	klock_wait_with_irqsave(&changed, flags, &ring);
	klock_unlock_irqrestore(&ring, flags);
}

static void wait_changed_preempt_off(void)
{
	klock_lock_preempt_off(&ring);
	klock_wait_with_preempt_off(&changed, &ring);
	klock_unlock_preempt_on(&ring);
}

static void sleep_for_ever(void)
{
	struct klock_sleeper me;

	klock_prepare(&changed, &me);
	expect(klock_sleep(&changed, &me, 0), "notified");
}

static const struct wait waits[] = {
	{"mutex", lock_ended, lock_files, lock_files, unlock_files,
	 unlock_files},
	{"shared_mutex", write_ended, lock_names, lock_names, unlock_names,
	 unlock_names},
	{"shared_mutex, to read", read_ended, read_names, lock_names,
	 unlock_names, stop_reading},
	{"inheriting_mutex", bus_ended, lock_bus, lock_bus, unlock_bus,
	 unlock_bus},
	{"inheriting_mutex, a try", try_bus_ended, 0, lock_bus, unlock_bus,
	 unlock_bus},
	{"semaphore", acquire_ended, take_unit, nothing, release, nothing},
	{"completion", completion_ended, wait_done, nothing, set, reset},
	{"condition", condition_ended, wait_changed, nothing, notify, nothing},
	{"condition, interrupts off", 0, wait_changed_irqsave, nothing, notify,
	 nothing},
	{"condition, preemption off", 0, wait_changed_preempt_off, nothing,
	 notify, nothing},
	{"condition, in two parts", sleep_ended, sleep_for_ever, nothing,
	 notify, nothing},
	{"wait_queue", queue_ended, wait_arrival, nothing, wake, empty},
};

static const struct wait *waited;

static void bring(void)
{
	self = low;
	waited->bring();
}

static void kill_sleeper(void) { killed = 1; }

static void bring_and_kill(void)
{
	kill_sleeper();
	bring();
}

/* Past the deadline as well. */
static void bring_late(void)
{
	bring_and_kill();
	for (const cycles from = klock_cycles();
	     klock_cycles() - from < 100000;)
		;
}

static void ends(const struct wait *wait, void (*others)(void), cycles deadline,
		 enum klock_wait_result why, const char *what)
{
	now = wait->name;
	waited = wait;
	self = low;
	wait->hold();
	self = high;
	meanwhile = others;
	expect(wait->why(deadline) == why, what);
	killed = 0;
	if (why != klock_wait_had) {
		self = low;
		wait->bring();
		self = high;
		why = wait->why(0);
	}
	if (why == klock_wait_had)
		wait->take_back();
}

static void why_each_ended(void)
{
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		const struct wait *const wait = &waits[i];
		const cycles never = ~0ull;

		if (!wait->why)
			continue;
		ends(wait, bring, never, klock_wait_had, "had");
		ends(wait, 0, 0, klock_wait_deadline, "its deadline");
		ends(wait, kill_sleeper, never, klock_wait_killed, "killed");
		ends(wait, kill_sleeper, 0, klock_wait_deadline,
		     "both: deadline");
		ends(wait, bring_and_kill, never, klock_wait_had,
		     "had, though it is killed");
		ends(wait, bring_late, klock_deadline_in(50000), klock_wait_had,
		     "had, though it is late");
	}
}

/* -- Waits without a deadline -- */

/* Nothing has come when the first park is over. */
static void nobody(void) { meanwhile = bring; }

/* A wait that does not sleep would be right, too, but for the CPU's time. */
static void each_parks(void)
{
	for (unsigned i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		waited = &waits[i];
		now = waited->name;
		if (!waited->for_ever)
			continue;
		self = low;
		waited->hold();
		self = high;
		meanwhile = nobody;
		parks = parks_until = 0;
		waited->for_ever();
		expect(parks == 2 && parks_until == 0,
		       "parks until what it waits for is there");
		waited->take_back();
	}
}

/* -- Priorities that are lent -- */

/* The owner runs with its waiter's priority, until it unlocks. */
static void low_unlocks(void)
{
	self = low;
	expect(run_with(3, 2, 3) && klock_is_contended(&bus), "inherits");
	klock_unlock(&bus);
	expect(run_with(1, 2, 3), "gives it back");
}

static void two_threads(void)
{
	now = "two threads";
	self = low;
	klock_lock(&bus);
	self = high;
	expect(!klock_try_lock(&bus), "held by another");
	meanwhile = low_unlocks;
	klock_lock(&bus);
	expect(klock_is_locked(&bus) && !klock_owner_died(&bus), "handed over");
	klock_unlock(&bus);
	expect(!klock_is_locked(&bus), "free");
}

/* Changes that of high, which waits. */
static void in_handler(unsigned priority)
{
	const unsigned long flags = klock_irq_save();

	context = 1;
	klock_priority_changed(&all[high].klock, priority);
	context = 0;
	expect(!klock_irqs_enabled(), "interrupts off, as before");
	klock_irq_restore(flags);
}

/* high waits for middle, which waits for low. */
static void ends_the_wait(void)
{
	expect(run_with(3, 3, 3), "through another's wait");
	in_handler(7);
	expect(run_with(7, 7, 7), "a priority that changes while it waits");
	klock_priority_changed(&all[high].klock, 3);
	expect(run_with(3, 3, 3), "and changes back");
	killed = 1;
}

static void high_waits_and_low_unlocks(void)
{
	self = high;
	meanwhile = ends_the_wait;
	expect(klock_lock_until(&disk, ~0ull) == klock_wait_killed, "killed");
	killed = 0;
	expect(run_with(2, 2, 3), "a wait that ends gives the loan back");
	self = low;
	klock_unlock(&bus);
	expect(run_with(1, 2, 3), "and so does an unlock");
}

static void three_threads(void)
{
	now = "three threads";
	self = low;
	klock_lock(&bus);
	self = middle;
	klock_lock(&disk);
	meanwhile = high_waits_and_low_unlocks;
	klock_lock(&bus);
	klock_unlock(&bus);
	klock_unlock(&disk);
}

static unsigned links;
static const struct klock_inheriting_thread *waiters[threads];
static const void *wanted[threads];

static void note_link(const struct klock_inheriting_thread *thread,
		      const void *mutex, void *with)
{
	expect(with == &links && links < threads, "a link");
	waiters[links] = thread;
	wanted[links++] = mutex;
}

static void low_would_wait(void)
{
	self = low;
	expect(klock_lock_until(&disk, ~0ull) == klock_wait_deadlock,
	       "is refused");
	expect(klock_lock_until_links(&disk, ~0ull, 0, 0) ==
		       klock_wait_deadlock,
	       "and told to nobody");
	expect(klock_lock_until_links(&disk, 0, note_link, &links) ==
			       klock_wait_deadlock &&
		       links == 2,
	       "by a deadline, too, with each link");
	expect(waiters[0] == &all[low].klock && wanted[0] == &disk &&
		       waiters[1] == &all[middle].klock && wanted[1] == &bus,
	       "low for disk, middle for bus");
	klock_unlock(&bus);
}

static void a_deadlock(void)
{
	now = "a deadlock";
	self = low;
	klock_lock(&bus);
	self = middle;
	klock_lock(&disk);
	meanwhile = low_would_wait;
	klock_lock(&bus);
	klock_unlock(&bus);
	klock_unlock(&disk);
}

static void note_held(const void *mutex, void *with)
{
	expect(mutex == &INNER(bus), "that mutex");
	++*(unsigned *)with;
}

static void low_ends(void)
{
	unsigned held = 0;

	klock_inheriting_thread_ends(&all[low].klock, 0, note_held, &held);
	expect(held == 1 && run_with(3, 2, 3), "names what it holds");
	klock_inheriting_thread_ends(&all[low].klock, 1, 0, 0);
	expect(run_with(1, 2, 3), "and inherits no more");
	self = low;
	klock_thread_ends(); /* the lock order's: a panic if it holds one */
}

static void an_owner_ends(void)
{
	now = "an owner that ends";
	self = low;
	klock_lock(&bus);
	self = high;
	meanwhile = low_ends;
	klock_lock(&bus);
	expect(klock_owner_died(&bus), "is told");
	klock_unlock(&bus);
	klock_lock(&bus);
	expect(!klock_owner_died(&bus), "once");
	klock_unlock(&bus);
	klock_inheriting_thread_init(&all[low].klock, 1);
}

static void low_notifies(void)
{
	self = low;
	klock_lock(&bus);
	klock_notify_one(&changed);
	klock_unlock(&bus);
}

static void a_condition(void)
{
	now = "a condition";
	self = high;
	klock_lock(&bus);
	meanwhile = low_notifies;
	klock_wait_with(&changed, &bus);
	expect(klock_is_locked(&bus), "held again");
	klock_unlock(&bus);
}

int main(void)
{
	alarm(600); /* a hang */
	why_each_ended();
	each_parks();
	for (int round = 0; round < 2; round++) {
		two_threads();
		three_threads();
		a_deadlock();
		links = 0;
		an_owner_ends();
		a_condition();
		klock_init(&bus);
		klock_init(&disk);
	}
	if (!failures)
		printf("%u waits: each says why it ended; loans are given "
		       "back\n",
		       (unsigned)(sizeof(waits) / sizeof(waits[0])));
	return failures != 0;
}
