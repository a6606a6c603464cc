/* SPDX-License-Identifier: MIT */
/*
 * Every lock of klock.h, from C, on a host: each verb alone, then four threads
 * that count under it.
 *
 * With the names that a kernel's own headers have, all before klock.h.
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned short ushort_;
typedef int bool_;
#define bool bool_
#define next no_such_name
#define owner no_such_name
#define tail no_such_name
#define lock no_such_name
#include <klock/klock.h>
#undef bool
#undef next
#undef owner
#undef tail
#undef lock

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { threads = 4, each = 20000 };

static unsigned count;
static int failures;

static void expect(int holds, const char *what)
{
	if (!holds) {
		printf("not so: %s\n", what);
		failures++;
	}
}

/* One kind of lock, with the nodes that it may need; by: the thread. */
struct kind {
	const char *name;
	void (*take)(unsigned by);
	void (*give)(unsigned by);
	unsigned long (*take_irqsave)(unsigned by);
	void (*give_irqrestore)(unsigned by, unsigned long flags);
	int (*try_take)(unsigned by);
	int (*is_locked)(void);
};

#define PLAIN_KIND(x, init)                                                    \
	static struct klock_##x x = init;                                      \
	static void x##_take(unsigned by) { (void)by, klock_##x##_lock(&x); }  \
	static void x##_give(unsigned by)                                      \
	{                                                                      \
		(void)by, klock_##x##_unlock(&x);                              \
	}                                                                      \
	static unsigned long x##_take_irqsave(unsigned by)                     \
	{                                                                      \
		return (void)by, klock_##x##_lock_irqsave(&x);                 \
	}                                                                      \
	static void x##_give_irqrestore(unsigned by, unsigned long flags)      \
	{                                                                      \
		(void)by, klock_##x##_unlock_irqrestore(&x, flags);            \
	}                                                                      \
	static int x##_try(unsigned by)                                        \
	{                                                                      \
		return (void)by, klock_##x##_try_lock(&x);                     \
	}                                                                      \
	static int x##_is_locked(void) { return klock_##x##_is_locked(&x); }

#define NODE_KIND(x, init)                                                     \
	static struct klock_##x x = init;                                      \
	static struct klock_##x##_node x##_nodes[threads];                     \
	static void x##_take(unsigned by)                                      \
	{                                                                      \
		klock_##x##_lock(&x, &x##_nodes[by]);                          \
	}                                                                      \
	static void x##_give(unsigned by)                                      \
	{                                                                      \
		klock_##x##_unlock(&x, &x##_nodes[by]);                        \
	}                                                                      \
	static unsigned long x##_take_irqsave(unsigned by)                     \
	{                                                                      \
		return klock_##x##_lock_irqsave(&x, &x##_nodes[by]);           \
	}                                                                      \
	static void x##_give_irqrestore(unsigned by, unsigned long flags)      \
	{                                                                      \
		klock_##x##_unlock_irqrestore(&x, &x##_nodes[by], flags);      \
	}                                                                      \
	static int x##_is_locked(void) { return klock_##x##_is_locked(&x); }

#define ENTRY(x, may_try)                                                      \
	{                                                                      \
#x, x##_take, x##_give, x##_take_irqsave, x##_give_irqrestore, \
			may_try, x##_is_locked                                 \
	}

/* clang-format off */
PLAIN_KIND(ticket_u8, KLOCK_TICKET_INIT)
PLAIN_KIND(ticket_u16, KLOCK_TICKET_INIT)
PLAIN_KIND(ticket_u32, KLOCK_TICKET_INIT)
PLAIN_KIND(tas, KLOCK_TAS_INIT)
PLAIN_KIND(ttas, KLOCK_TTAS_INIT)
PLAIN_KIND(backoff_ttas, KLOCK_BACKOFF_TTAS_INIT)
NODE_KIND(mcs, KLOCK_MCS_INIT)
NODE_KIND(clh, KLOCK_CLH_INIT(clh))
/* clang-format on */

static int mcs_try(unsigned by)
{
	return klock_mcs_try_lock(&mcs, &mcs_nodes[by]);
}

static const struct kind kinds[] = {
	ENTRY(ticket_u8, ticket_u8_try),
	ENTRY(ticket_u16, ticket_u16_try),
	ENTRY(ticket_u32, ticket_u32_try),
	ENTRY(tas, tas_try),
	ENTRY(ttas, ttas_try),
	ENTRY(backoff_ttas, backoff_ttas_try),
	ENTRY(mcs, mcs_try),
	ENTRY(clh, 0),
};

static int irqs_on(void)
{
	const unsigned long before = klock_irq_save();

	klock_irq_restore(before);
	return before != 0;
}

static void each_verb(const struct kind *k)
{
	unsigned long flags;

	expect(!k->is_locked(), "free at first");
	k->take(0);
	expect(k->is_locked(), "held");
	if (k->try_take)
		expect(!k->try_take(1), "a try at a held lock fails");
	k->give(0);
	expect(!k->is_locked(), "free again");
	if (k->try_take) {
		expect(k->try_take(1), "a try at a free lock succeeds");
		k->give(1);
	}
	flags = k->take_irqsave(0);
	expect(!irqs_on() && k->is_locked(), "interrupts off, and held");
	k->give_irqrestore(0, flags);
	expect(irqs_on() && !k->is_locked(), "interrupts on, and free");
}

struct job {
	const struct kind *k;
	unsigned by;
};

static void *work(void *arg)
{
	const struct job *j = arg;

	for (int i = 0; i < each; i++) {
		unsigned long flags = j->k->take_irqsave(j->by);

		count++;
		j->k->give_irqrestore(j->by, flags);
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
	expect(count == threads * each, k->name);
}

int main(void)
{
	const unsigned kinds_here = sizeof(kinds) / sizeof(kinds[0]);

	for (unsigned i = 0; i < threads; i++)
		klock_clh_node_init(&clh_nodes[i]);
	expect(strlen(klock_version()) >= 5, "a version");
	for (unsigned i = 0; i < kinds_here; i++) {
		each_verb(&kinds[i]);
		threads_count(&kinds[i]);
	}
	if (!failures)
		printf("%u locks, %d threads each: all counts are right\n",
		       kinds_here, threads);
	return failures != 0;
}
