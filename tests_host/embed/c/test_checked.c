/* SPDX-License-Identifier: MIT */
/*
 * A checked lock's report of misuse, from C: which lock, where, and where it
 * was taken. Then two orders of two locks, named when the second is seen; and
 * who holds what, while it is held.
 */
#include <klock/klock.h>

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct klock_checked_ticket_u8 lock =
	KLOCK_CHECKED_INIT("runqueue", KLOCK_TICKET_INIT);
static struct klock_checked_ttas heap_lock;
static struct klock_checked_tas buckets[4];
static struct klock_checked_mcs queue;
static struct klock_mcs_node node, other_node;
static struct klock_checked_phase_fair_u8 routes =
	KLOCK_CHECKED_INIT("routes", KLOCK_PHASE_FAIR_INIT);
static struct klock_checked_reader_8 names;

static struct klock_checked_ticket_u8 inode =
	KLOCK_CHECKED_INIT("inode", KLOCK_TICKET_INIT);
static struct klock_checked_tas buffer =
	KLOCK_CHECKED_INIT("buffer", KLOCK_TAS_INIT);
static struct klock_checked_tas console =
	KLOCK_CHECKED_INIT("console", KLOCK_TAS_INIT);
static struct klock_checked_rw_ticket_u8 table =
	KLOCK_CHECKED_INIT("table", KLOCK_RW_TICKET_INIT);

static int failures;
static unsigned cpu, thread;
static int context;

unsigned klock_os_cpu_id(void) { return cpu; }
int klock_os_context(void) { return context; }
__SIZE_TYPE__ klock_os_thread(void) { return thread; }

/* The record of the lock order, used from the second half on. */
static struct klock_lock_order *known;

struct klock_lock_order *klock_os_lock_order(void) { return known; }

/* The last panic. */
static jmp_buf out;
static char name[64], text[1200];
static const void *address;
static unsigned panicked_on;
static int line;

/* Since the last panic. */
static int trying;

void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned on_cpu, const char *what)
{
	panicked_on = on_cpu;
	snprintf(name, sizeof(name), "%s", lock_name);
	snprintf(text, sizeof(text), "%s", what);
	address = lock_address;
	klock_set_checks(1);
	if (!trying) {
		printf("nothing was tried: %s: %s\n", name, text);
		exit(1);
	}
	trying = 0;
	longjmp(out, 1);
}

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s; %s: %s\n", what, name, text);
		failures++;
	}
}

/* All on one line, which the report must name. */
#define TRY_TO                                                                 \
	line = __LINE__, text[0] = name[0] = 0, trying = 1;                    \
	if (!setjmp(out))

static int names_line(int number)
{
	char at[32];

	snprintf(at, sizeof(at), "test_checked.c:%d", number);
	return strstr(text, at) != 0;
}

static void expect_misuse(const char *what, const char *lock_name,
			  const void *of)
{
	expect(text[0], what);
	expect(strstr(text, what) != 0, what);
	expect(names_line(line), "the call site");
	expect(!strcmp(name, lock_name), lock_name);
	expect(address == of, "the address");
}

static void names_and_places(void)
{
	int taken;

	klock_lock(&lock), taken = __LINE__;
	expect(klock_checked_is_held_by_me(&lock), "held by me");
	klock_checked_assert_held(&lock);
	TRY_TO klock_lock(&lock);
	expect_misuse("recursion", "runqueue", &lock);
	expect(names_line(taken), "where it was taken");
	cpu = 1;
	expect(!klock_checked_is_held_by_me(&lock), "not by another");
	TRY_TO klock_unlock(&lock);
	expect_misuse("unlock() by a caller that does not hold", "runqueue",
		      &lock);
	cpu = 0;
	klock_unlock(&lock);
	TRY_TO klock_unlock(&lock);
	expect_misuse("unlock() of a lock that nobody holds", "runqueue",
		      &lock);
	TRY_TO klock_checked_assert_held(&lock);
	expect_misuse("the caller does not hold it", "runqueue", &lock);
}

/* initlock(lock, name) of real kernels; elements of an array. */
static void names_at_run_time(void)
{
	memset(&heap_lock, 0xa5, sizeof(heap_lock));
	klock_init(&heap_lock);
	TRY_TO klock_unlock(&heap_lock);
	expect_misuse("that nobody holds", "lock", &heap_lock);
	klock_checked_set_name(&heap_lock, "inode");
	TRY_TO klock_unlock(&heap_lock);
	expect_misuse("that nobody holds", "inode", &heap_lock);
	for (unsigned i = 0; i < 4; i++)
		klock_checked_set_element(&buckets[i], "bucket", i);
	TRY_TO klock_unlock(&buckets[3]);
	expect_misuse("that nobody holds", "bucket[3]", &buckets[3]);
}

static void irqsave_has_its_place_too(void)
{
	unsigned long flags = klock_lock_irqsave(&lock);

	TRY_TO flags = klock_lock_irqsave(&lock);
	expect_misuse("recursion", "runqueue", &lock);
	klock_unlock_irqrestore(&lock, flags);
	TRY_TO klock_unlock_irqrestore(&lock, flags);
	expect_misuse("that nobody holds", "runqueue", &lock);
	klock_irq_restore(flags);
}

static void with_a_node(void)
{
	klock_checked_set_name(&queue, "queue");
	klock_lock(&queue, &node);
	TRY_TO klock_unlock(&queue, &other_node);
	expect_misuse("another CPU number, node", "queue", &queue);
	klock_unlock(&queue, &node);
}

/* Held with interrupts on, wanted in a handler: named, and not hung. */
static void interrupts(void)
{
	klock_lock(&buckets[0]);
	klock_unlock(&buckets[0]);
	context = 1;
	TRY_TO klock_lock(&buckets[0]);
	expect_misuse("with interrupts on", "bucket[0]", &buckets[0]);
	context = 2;
	TRY_TO klock_lock(&buckets[1]);
	expect_misuse("NMI", "bucket[1]", &buckets[1]);
	context = 0;
}

static void readers(void)
{
	unsigned in;

	klock_lock_shared(&routes);
	TRY_TO klock_lock_shared(&routes);
	expect_misuse("read recursion", "routes", &routes);
	TRY_TO klock_lock(&routes);
	expect_misuse("upgrade", "routes", &routes);
	TRY_TO klock_upgrade(&routes);
	expect_misuse("upgrade: the caller already holds it for reading",
		      "routes", &routes);
	TRY_TO klock_downgrade(&routes);
	expect_misuse("by a caller that holds it for reading", "routes",
		      &routes);
	klock_unlock_shared(&routes);
	klock_lock_upgradable(&routes);
	TRY_TO klock_unlock(&routes);
	expect_misuse("node, or verb", "routes", &routes);
	klock_unlock_upgradable(&routes);
	TRY_TO klock_unlock_shared(&routes);
	expect_misuse("unlock_shared() by a caller that does not hold",
		      "routes", &routes);
	for (in = 0; in < KLOCK_PHASE_FAIR_U8_READERS; in++) {
		cpu = in;
		klock_lock_shared(&routes);
	}
	cpu = in;
	TRY_TO klock_lock_shared(&routes);
	expect_misuse("more readers than the lock has room for", "routes",
		      &routes);
	TRY_TO if (klock_try_lock_shared(&routes)) {}
	expect_misuse("more readers than the lock has room for", "routes",
		      &routes);
	while (in--) {
		cpu = in;
		klock_unlock_shared(&routes);
	}
}

static unsigned ninth(void) { return 8; }

static void readers_by_cpu(void)
{
	unsigned long flags = klock_irq_save();

	klock_irq_restore(flags);
	klock_checked_set_name(&names, "names");
	TRY_TO klock_lock_shared(&names, 8);
	expect_misuse("a CPU number beyond the lock's capacity", "names",
		      &names);
	TRY_TO flags = klock_lock_shared_irqsave(&names, ninth);
	expect_misuse("a CPU number beyond the lock's capacity", "names",
		      &names);
	klock_irq_restore(flags);
	context = 2;
	TRY_TO klock_lock_shared(&names, 0);
	expect_misuse("NMI", "names", &names);
	context = 0;
	klock_lock_shared(&names, 0);
	klock_lock_shared(&names, 0);
	klock_unlock_shared(&names, 0);
	klock_unlock_shared(&names, 0);
	klock_lock(&names);
	klock_checked_assert_held(&names);
	klock_unlock(&names);
}

static void changes(void *with) { (void)with; }

static void wakes_itself(void *queue)
{
	klock_wake_one((struct klock_checked_wait_queue *)queue, changes,
		       queue);
}

/* In a handler, with interrupts off; by the line of the call. */
static void what_sleeps(void)
{
	static struct klock_checked_mutex files =
		KLOCK_CHECKED_INIT("files", KLOCK_MUTEX_INIT);
	static struct klock_checked_semaphore jobs =
		KLOCK_CHECKED_INIT("jobs", KLOCK_SEMAPHORE_INIT(1));
	static struct klock_checked_condition changed =
		KLOCK_CHECKED_INIT("changed", KLOCK_CONDITION_INIT);
	static struct klock_checked_condition other =
		KLOCK_CHECKED_INIT("other", KLOCK_CONDITION_INIT);
	static struct klock_checked_completion done;
	static struct klock_checked_wait_queue queue;
	static struct klock_sleeper me;
	const unsigned long long soon = 0;
	unsigned long flags;

	klock_lock(&files);
	TRY_TO klock_lock(&files);
	expect_misuse("recursion", "files", &files);
	context = 1;
	TRY_TO klock_acquire(&jobs);
	expect_misuse("called in an interrupt handler", "jobs",
		      &jobs.klock_usage);
	context = 0;
	flags = klock_irq_save();
	klock_checked_set_name(&done, "done");
	TRY_TO klock_wait(&done);
	expect_misuse("called with interrupts off", "done", &done.klock_usage);
	TRY_TO klock_wait_with(&changed, &files);
	expect_misuse("called with interrupts off", "changed",
		      &changed.klock_usage);
	klock_irq_restore(flags);
	klock_prepare(&changed, &me);
	TRY_TO if (klock_sleep(&other, &me, &soon)) {}
	expect_misuse("sleep() without prepare()", "other", &other.klock_usage);
	thread = 1;
	TRY_TO if (klock_sleep(&changed, &me, &soon)) {}
	expect_misuse("sleep() in another thread than prepare()", "changed",
		      &changed.klock_usage);
	thread = 0;
	TRY_TO klock_prepare(&changed, &me);
	expect_misuse("prepare() twice: the thread has not slept since",
		      "changed", &changed.klock_usage);
	context = 2;
	TRY_TO klock_notify_one(&changed);
	expect_misuse("in an NMI handler", "changed", &changed.klock_usage);
	TRY_TO klock_set(&done);
	expect_misuse("in an NMI handler", "done", &done.klock_usage);
	TRY_TO if (klock_try_acquire(&jobs)) {}
	expect_misuse("in an NMI handler", "jobs", &jobs.klock_usage);
	context = 0;
	klock_init(&queue);
	klock_checked_set_name(&queue, "queue");
	TRY_TO klock_wake_one(&queue, wakes_itself, &queue);
	expect(strstr(text, "with its inner lock held") && names_line(line) &&
		       strstr(text, "; held by CPU 0"),
	       "by its own change");
}

/* A kernel's own function around a lock. */
__attribute__((noinline)) static void acquire(void)
{
	klock_lock_at(&buckets[2], __builtin_return_address(0), KLOCK_CODE);
}

/* The lock's call and the one that took it: within a function's code. */
static void names_code(unsigned long of)
{
	const char *at = text;

	for (int i = 0; i < 2; i++) {
		at = strstr(at, "at 0x");
		expect(at != 0, "an address");
		if (!at)
			return;
		at += strlen("at ");
		expect(strtoul(at, 0, 16) - of < 1000, "not by the caller");
	}
}

__attribute__((noinline)) static void functions_note_their_caller(void)
{
	const unsigned long mine = (unsigned long)functions_note_their_caller;

	klock_checked_tas_lock(&buckets[2]);
	TRY_TO klock_checked_tas_lock(&buckets[2]);
	names_code(mine);
	klock_checked_tas_unlock(&buckets[2]);
	acquire();
	TRY_TO acquire();
	names_code(mine);
	klock_unlock(&buckets[2]);
}

static void says(const char *part) { expect(strstr(text, part) != 0, part); }

/* The kernel has no order yet. */
static void handed_over_or_held_twice(void)
{
	unsigned long before = klock_irq_save();

	cpu = 2;
	klock_lock(&console);
	cpu = 3;
	klock_checked_handed_over(&console);
	TRY_TO klock_might_switch();
	says("might_switch() with a spinlock held");
	klock_lock(&buffer);
	TRY_TO klock_checked_might_wait_with(&console);
	expect_misuse("might_wait() with a lock held", "buffer", &buffer);
	klock_unlock(&buffer);
	TRY_TO klock_checked_might_wait_with(&console);
	expect(!text[0], "it is let go");
	klock_unlock(&console);
	cpu = 2;
	TRY_TO klock_might_switch();
	expect(!text[0], "the other one had it");
	cpu = 0;
	klock_irq_restore(before);
}

/* -- Orders of locks -- */

static void put(const char *line, void *with)
{
	(void)with;
	strncat(text, line, sizeof(text) - strlen(text) - 1);
	strncat(text, "\n", sizeof(text) - strlen(text) - 1);
}

static void two_orders(void)
{
	unsigned long before = klock_irq_save();

	klock_lock(&inode);
	klock_lock(&buffer);
	text[0] = 0;
	klock_print_held(put, 0);
	says("CPU 0 holds inode (0x");
	says("CPU 0 holds buffer (0x");
	says("test_checked.c:");
	klock_unlock(&buffer);
	klock_unlock(&inode);

	cpu = 1;
	klock_lock(&buffer);
	TRY_TO klock_lock(&inode);
	says("lock order: buffer (");
	expect(!strcmp(name, "inode") && panicked_on == 1, "inode, CPU 1");
	says("on CPU 1; known: inode (");
	says("on CPU 0");
	klock_unlock(&buffer);
	klock_irq_restore(before);
}

static void what_a_kernel_says(void)
{
	unsigned long before = klock_irq_save();

	cpu = 2;
	TRY_TO klock_might_wait();
	says("with interrupts off; at ");
	TRY_TO klock_might_switch();
	expect(!text[0], "nothing is held");
	klock_lock(&console);
	TRY_TO klock_might_switch();
	says("might_switch() with a spinlock held; at ");
	expect(!strcmp(name, "console") && panicked_on == 2, "console, CPU 2");
	TRY_TO klock_thread_ends();
	says("a thread ends with it held; at ");
	klock_unlock(&console);
	TRY_TO klock_thread_ends();
	expect(!text[0], "it holds nothing");

	TRY_TO klock_declare_before("console", "table");
	TRY_TO klock_declare_rank("console", 20);
	TRY_TO klock_declare_rank("table", 10);
	says("lock order: declared at ");
	says("known: console then table (declared)");
	klock_irq_restore(before);
}

static void a_handler_that_returns(void)
{
	unsigned long before = klock_irq_save();
	static unsigned char now;
	struct klock_handler in;

	cpu = 2;
	klock_handler_begin(&in, &now, 1);
	expect(now == 1, "in a handler");
	klock_lock(&console);
	TRY_TO klock_handler_end(&in);
	says("an interrupt handler returns with it held; at ");
	expect(now == 0, "in a thread");
	klock_unlock(&console);
	expect(klock_note_long_waits(~0u) == 0, "nobody waits for so long");
	klock_irq_restore(before);
}

static void what_sleeps_and_what_is_freed(void)
{
	unsigned long before = klock_irq_save();
	int inode = 0;

	cpu = 2;
	expect(klock_order_is_checked(), "this file has it");
	TRY_TO klock_checked_might_wait_with(&console);
	says("the caller does not hold it");
	klock_lock(&console);
	TRY_TO klock_checked_might_wait_with(&console);
	expect(!text[0], "it is let go");
	TRY_TO klock_acquired(&inode, "inode", 0);
	says("may sleep, but the caller holds a spinlock; at ");
	TRY_TO klock_none_held_in(&console, sizeof(console));
	says("memory was freed with a lock in it that is held; at ");
	klock_unlock(&console);
	TRY_TO klock_none_held_in(&console, sizeof(console));
	expect(!text[0], "it is free");

	klock_declare_harmless("console", "inode");
	TRY_TO klock_acquired(&inode, "inode", 0);
	TRY_TO klock_might_switch();
	expect(!text[0], "it sleeps");
	TRY_TO klock_acquired(&inode, "inode", 0);
	says("recursion: the caller already holds it");
	klock_released(&inode);
	klock_irq_restore(before);
}

/* A parent, and its child at a lower address. */
static void parent_and_child(void)
{
	static struct klock_checked_tas node[2] = {
		KLOCK_CHECKED_INIT("node", KLOCK_TAS_INIT),
		KLOCK_CHECKED_INIT("node", KLOCK_TAS_INIT),
	};
	unsigned long before = klock_irq_save();
	struct klock_nested one_down;

	cpu = 4;
	klock_lock(&node[1]);
	klock_checked_nest(&one_down, &node[0], 1);
	TRY_TO klock_lock(&node[0]);
	klock_checked_unnest(&one_down);
	expect(!text[0], "a child's sub-rank");
	klock_unlock(&node[1]);
	klock_checked_set_sub_rank(&node[0], 0);
	klock_checked_nest(&one_down, &node[1], 1);
	TRY_TO klock_lock(&node[1]);
	klock_checked_unnest(&one_down);
	expect(!text[0], "hand over hand");
	klock_unlock(&node[0]);
	TRY_TO klock_lock(&node[0]);
	says("same class: ");
	klock_unlock(&node[1]);
	TRY_TO klock_checked_nest(&one_down, &node[0], 256);
	says("a sub-rank above 255");
	klock_irq_restore(before);
}

static void readers_in_order(void)
{
	unsigned long before = klock_irq_save();

	cpu = 3;
	klock_lock_shared(&table);
	text[0] = 0;
	klock_print_held(put, 0);
	says("CPU 3 reads table (0x");
	TRY_TO klock_lock(&console);
	says("known: console then table (declared)");
	klock_unlock_shared(&table);
	klock_irq_restore(before);
}

int main(void)
{
	names_and_places();
	names_at_run_time();
	irqsave_has_its_place_too();
	with_a_node();
	interrupts();
	readers();
	readers_by_cpu();
	what_sleeps();
	functions_note_their_caller();
	handed_over_or_held_twice();
	known = klock_lock_order_8();
	two_orders();
	what_a_kernel_says();
	what_sleeps_and_what_is_freed();
	a_handler_that_returns();
	readers_in_order();
	parent_and_child();
	if (!failures)
		printf("every misuse and every deadlock is named\n");
	return failures != 0;
}
