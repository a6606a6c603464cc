/* SPDX-License-Identifier: MIT */
/*
 * What a checked lock says of misuse, from C: which lock, where, and where it
 * was taken.
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

static int failures;
static unsigned cpu;
static int context;

unsigned klock_os_cpu_id(void) { return cpu; }
int klock_os_context(void) { return context; }

/* The last panic. */
static jmp_buf out;
static char name[64], text[512];
static const void *address;
static int line;

void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned on_cpu, const char *what)
{
	(void)on_cpu;
	snprintf(name, sizeof(name), "%s", lock_name);
	snprintf(text, sizeof(text), "%s", what);
	address = lock_address;
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
	line = __LINE__, text[0] = name[0] = 0;                                \
	if (!setjmp(out))

static int names_line(int number)
{
	char at[32];

	snprintf(at, sizeof(at), "test_checked.c:%d", number);
	return strstr(text, at) != 0;
}

static void is_misuse(const char *what, const char *lock_name, const void *of)
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
	is_misuse("recursion", "runqueue", &lock);
	expect(names_line(taken), "where it was taken");
	cpu = 1;
	expect(!klock_checked_is_held_by_me(&lock), "not by another");
	TRY_TO klock_unlock(&lock);
	is_misuse("unlock by another", "runqueue", &lock);
	cpu = 0;
	klock_unlock(&lock);
	TRY_TO klock_unlock(&lock);
	is_misuse("unlock of a free lock", "runqueue", &lock);
	TRY_TO klock_checked_assert_held(&lock);
	is_misuse("not held by the caller", "runqueue", &lock);
}

/* initlock(lock, name) of real kernels; elements of an array. */
static void names_at_run_time(void)
{
	memset(&heap_lock, 0xa5, sizeof(heap_lock));
	klock_init(&heap_lock);
	TRY_TO klock_unlock(&heap_lock);
	is_misuse("free lock", "lock", &heap_lock);
	klock_checked_set_name(&heap_lock, "inode");
	TRY_TO klock_unlock(&heap_lock);
	is_misuse("free lock", "inode", &heap_lock);
	for (unsigned i = 0; i < 4; i++)
		klock_checked_set_element(&buckets[i], "bucket", i);
	TRY_TO klock_unlock(&buckets[3]);
	is_misuse("free lock", "bucket[3]", &buckets[3]);
}

static void irqsave_has_its_place_too(void)
{
	unsigned long flags = klock_lock_irqsave(&lock);

	TRY_TO klock_lock_irqsave(&lock);
	is_misuse("recursion", "runqueue", &lock);
	klock_unlock_irqrestore(&lock, flags);
	TRY_TO klock_unlock_irqrestore(&lock, flags);
	is_misuse("free lock", "runqueue", &lock);
	klock_irq_restore(flags);
}

static void with_a_node(void)
{
	klock_checked_set_name(&queue, "queue");
	klock_lock(&queue, &node);
	TRY_TO klock_unlock(&queue, &other_node);
	is_misuse("another number or node", "queue", &queue);
	klock_unlock(&queue, &node);
}

/* Held with interrupts on, wanted in a handler: named, and not hung. */
static void interrupts(void)
{
	klock_lock(&buckets[0]);
	klock_unlock(&buckets[0]);
	context = 1;
	TRY_TO klock_lock(&buckets[0]);
	is_misuse("with interrupts on", "bucket[0]", &buckets[0]);
	context = 2;
	TRY_TO klock_lock(&buckets[1]);
	is_misuse("NMI", "bucket[1]", &buckets[1]);
	context = 0;
}

static void readers(void)
{
	unsigned in;

	klock_lock_shared(&routes);
	TRY_TO klock_lock_shared(&routes);
	is_misuse("read recursion", "routes", &routes);
	TRY_TO klock_lock(&routes);
	is_misuse("upgrade", "routes", &routes);
	klock_unlock_shared(&routes);
	TRY_TO klock_unlock_shared(&routes);
	is_misuse("unlock_shared by who does not read", "routes", &routes);
	for (in = 0; in < KLOCK_PHASE_FAIR_U8_READERS; in++) {
		cpu = in;
		klock_lock_shared(&routes);
	}
	cpu = in;
	TRY_TO klock_lock_shared(&routes);
	is_misuse("more readers than its capacity", "routes", &routes);
	TRY_TO if (klock_try_lock_shared(&routes)) {}
	is_misuse("more readers than its capacity", "routes", &routes);
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
	is_misuse("a CPU number beyond capacity", "names", &names);
	TRY_TO klock_lock_shared_irqsave(&names, ninth);
	is_misuse("a CPU number beyond capacity", "names", &names);
	klock_irq_restore(flags);
	context = 2;
	TRY_TO klock_lock_shared(&names, 0);
	is_misuse("NMI", "names", &names);
	context = 0;
	klock_lock_shared(&names, 0);
	klock_lock_shared(&names, 0);
	klock_unlock_shared(&names, 0);
	klock_unlock_shared(&names, 0);
	klock_lock(&names);
	klock_checked_assert_held(&names);
	klock_unlock(&names);
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
		expect(strtoul(at, 0, 16) - of < 1000, "the caller's");
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

int main(void)
{
	names_and_places();
	names_at_run_time();
	irqsave_has_its_place_too();
	with_a_node();
	interrupts();
	readers();
	readers_by_cpu();
	functions_note_their_caller();
	if (!failures)
		printf("every misuse is named\n");
	return failures != 0;
}
