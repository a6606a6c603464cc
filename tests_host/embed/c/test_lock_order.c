/* SPDX-License-Identifier: MIT */
/*
 * Two orders of two locks, from C: named when the second is seen; and who holds
 * what, while it is held.
 */
#include <klock/klock.h>

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static struct klock_checked_ticket_u8 inode =
	KLOCK_CHECKED_INIT("inode", KLOCK_TICKET_INIT);
static struct klock_checked_tas buffer =
	KLOCK_CHECKED_INIT("buffer", KLOCK_TAS_INIT);
static struct klock_checked_tas console =
	KLOCK_CHECKED_INIT("console", KLOCK_TAS_INIT);
static struct klock_checked_rw_ticket_u8 table =
	KLOCK_CHECKED_INIT("table", KLOCK_RW_TICKET_INIT);

static unsigned cpu;
static int context, failures;

unsigned klock_os_cpu_id(void) { return cpu; }
int klock_os_context(void) { return context; }

struct klock_lock_order *klock_os_lock_order(void)
{
	return klock_lock_order_8();
}

/* The last panic. */
static jmp_buf out;
static char text[1200];

void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned on_cpu, const char *what)
{
	(void)lock_address;
	snprintf(text, sizeof(text), "%s, CPU %u: %s", lock_name, on_cpu, what);
	longjmp(out, 1);
}

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s; %s\n", what, text);
		failures++;
	}
}

static void says(const char *part) { expect(strstr(text, part) != 0, part); }

#define TRY_TO                                                                 \
	text[0] = 0;                                                           \
	if (!setjmp(out))

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
	says("test_lock_order.c:");
	klock_unlock(&buffer);
	klock_unlock(&inode);

	cpu = 1;
	klock_lock(&buffer);
	TRY_TO klock_lock(&inode);
	says("inode, CPU 1: lock order: buffer (");
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
	expect(!text[0], "nothing is held");
	klock_lock(&console);
	TRY_TO klock_might_wait();
	says("console, CPU 2: might_wait() with a lock held; at ");
	klock_unlock(&console);

	TRY_TO klock_declare_before("console", "table");
	TRY_TO klock_declare_rank("console", 20);
	TRY_TO klock_declare_rank("table", 10);
	says("lock order: declared at ");
	says("known: console then table (declared)");
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
	klock_unlock(&node[0]);
	TRY_TO klock_lock(&node[0]);
	says("same class: ");
	klock_unlock(&node[1]);
	klock_irq_restore(before);
}

static void readers(void)
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
	two_orders();
	what_a_kernel_says();
	readers();
	parent_and_child();
	if (!failures)
		printf("every deadlock is named\n");
	return failures != 0;
}
