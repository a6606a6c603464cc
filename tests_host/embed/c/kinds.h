/* SPDX-License-Identifier: MIT */
/*
 * kinds - every lock of klock.h behind one table, for the tests
 *
 * Made of verbs.h's list of all kinds: a kind that is added there is tested. An
 * initialiser is all that it needs here. With CHECKED defined, the same of
 * their checked forms.
 *
 * With the names that a kernel's own headers have, all before klock.h.
 */
#pragma once

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

#include "first.h"

#include <string.h>

#ifdef CHECKED
#define KLOCK(x) klock_checked_##x
#define FIRST(k, ...) KLOCK_CHECKED_INIT(#k, __VA_ARGS__)
#define INNER(k) (k).klock_inner
#else
#define KLOCK(x) klock_##x
#define FIRST(k, ...) __VA_ARGS__
#define INNER(k) (k)
#endif

enum { threads = 4 };

/* The number of this thread, which stands for a CPU. */
static _Thread_local unsigned self;

/* Asked for a number or a node while interrupts were on: too early. */
static _Atomic int asked_too_early;

/* The kernel's answer; queued and checked locks ask. */
unsigned klock_os_cpu_id(void) { return self; }
/* One thread plays several owners. */
unsigned long klock_os_owner_id(void) { return self; }

static unsigned self_id(void)
{
	asked_too_early += klock_irqs_enabled();
	return self;
}

/* One kind of lock; a verb that it does not have is null. */
struct kind {
	const char *name;
	void (*spoil)(void); /* memory as a heap gives it */
	void (*init)(void);
	void (*take)(void);
	void (*give)(void);
	int (*is_locked)(void);
	unsigned long (*take_irqsave)(void);
	void (*give_irqrestore)(unsigned long flags);
	int (*try_take)(void);
	int (*try_irqsave)(unsigned long *flags);
	int (*try_until)(unsigned long long time);
	int (*try_for)(unsigned long long time);
	int (*is_contended)(void);
	void (*take_unpreempted)(void);
	void (*give_preempted)(void);
	int (*try_unpreempted)(void);
};

/* -- One verb each; with: the arguments, in their brackets -- */

/* clang-format off */
#define LOCK(k, x, ...)                                                        \
	static struct KLOCK(x) k = FIRST(k, __VA_ARGS__);                      \
	static void k##_spoil(void) { memset(&k, 0xa5, sizeof(k)); }           \
	static void k##_init(void) { klock_init(&k); }

#define COMMON(k, with)                                                        \
	static void k##_take(void) { klock_lock with; }                        \
	static void k##_give(void) { klock_unlock with; }                      \
	static int k##_is_locked(void) { return klock_is_locked(&k); }         \
	static void k##_take_unpreempted(void)                                 \
	{                                                                      \
		klock_lock_preempt_off with;                                   \
	}                                                                      \
	static void k##_give_preempted(void) { klock_unlock_preempt_on with; }

#define IRQSAVE(k, by, with, with_flags)                                       \
	static unsigned long k##_take_irqsave(void)                            \
	{                                                                      \
		return klock_lock_irqsave##by with;                            \
	}                                                                      \
	static void k##_give_irqrestore(unsigned long flags)                   \
	{                                                                      \
		klock_unlock_irqrestore##by with_flags;                        \
	}

#define TRY(k, with, with_flags, with_time)                                    \
	static int k##_try_until(unsigned long long time)                      \
	{                                                                      \
		return klock_try_lock_until with_time;                         \
	}                                                                      \
	static int k##_try_for(unsigned long long time)                        \
	{                                                                      \
		return klock_try_lock_for with_time;                           \
	}                                                                      \
	static int k##_try_take(void) { return klock_try_lock with; }          \
	static int k##_try_unpreempted(void)                                   \
	{                                                                      \
		return klock_try_lock_preempt_off with;                        \
	}                                                                      \
	static int k##_try_irqsave(unsigned long *flags)                       \
	{                                                                      \
		return klock_try_lock_irqsave with_flags;                      \
	}

#define CONTENDED(k, with)                                                     \
	static int k##_is_contended(void) { return klock_is_contended with; }

#define ENTRY(k, ...)                                                          \
	{#k, k##_spoil, k##_init, k##_take, k##_give, k##_is_locked,           \
	 k##_take_irqsave, k##_give_irqrestore, __VA_ARGS__}

/* The verbs behind k's irqsave verbs in its entry. */
#define TRIES(k, contended)                                                    \
	k##_try_take, k##_try_irqsave, k##_try_until, k##_try_for, contended,  \
	k##_take_unpreempted, k##_give_preempted, k##_try_unpreempted
#define NO_TRIES(k, contended)                                                 \
	0, 0, 0, 0, contended, k##_take_unpreempted, k##_give_preempted, 0

/* -- Shapes of verbs.h: what is made for a kind, and its entry -- */

#define MAKE_PLAIN(x)                                                          \
	LOCK(x, x, FIRST_##x)                                                  \
	COMMON(x, (&x))                                                        \
	IRQSAVE(x, , (&x), (&x, flags))
#define MAKE_TAS(x) MAKE_PLAIN(x) TRY(x, (&x), (&x, flags), (&x, time))
#define MAKE_TICKET(x) MAKE_TAS(x) CONTENDED(x, (&x))
#define MAKE_PADDED(x) MAKE_PLAIN(x) CONTENDED(x, (&x))
#define MAKE_PROPORTIONAL(x) MAKE_TICKET(x)
#define MAKE_QUEUED(x) MAKE_TICKET(x)
#define MAKE_READERS(x)                                                        \
	MAKE_TAS(x)                                                            \
	READ(x, (&x), (&x), (&x, flags))                                       \
	static void x##_downgrade(void) { klock_downgrade(&x); }
#define MAKE_UPGRADABLE(x)                                                     \
	MAKE_READERS(x)                                                        \
	READ_AS(x, upgradable, upgradable, (&x), (&x), (&x, flags))            \
	static void x##_upgrade(void) { klock_upgrade(&x); }                   \
	static int x##_try_upgrade(void) { return klock_try_upgrade(&x); }
#define MAKE_READER(x)                                                         \
	MAKE_PLAIN(x)                                                          \
	READ(x, (&x, self), (&x, self_id), (&x, self_id, flags))

/* Taken under a number. */
#define MAKE_BAKERY(x)                                                         \
	LOCK(x, x, FIRST_##x)                                                  \
	COMMON(x, (&x, self))                                                  \
	IRQSAVE(x, , (&x, self_id), (&x, self_id, flags))                      \
	CONTENDED(x, (&x))
#define MAKE_TIMEOUT(x)                                                        \
	MAKE_BAKERY(x)                                                         \
	TRY(x, (&x, self), (&x, self_id, flags), (&x, self, time))

/* Taken to read, by the verbs of `how`. with: the arguments, in brackets. */
#define READ_AS(x, k, how, with, by, by_flags)                                 \
	static void x##_##k##_take(void) { klock_lock_##how with; }            \
	static void x##_##k##_give(void) { klock_unlock_##how with; }          \
	static unsigned long x##_##k##_take_irqsave(void)                      \
	{                                                                      \
		return klock_lock_##how##_irqsave by;                          \
	}                                                                      \
	static void x##_##k##_give_irqrestore(unsigned long flags)             \
	{                                                                      \
		klock_unlock_##how##_irqrestore by_flags;                      \
	}                                                                      \
	static int x##_##k##_try_take(void)                                    \
	{                                                                      \
		return klock_try_lock_##how with;                              \
	}                                                                      \
	static void x##_##k##_take_unpreempted(void)                           \
	{                                                                      \
		klock_lock_##how##_preempt_off with;                           \
	}                                                                      \
	static void x##_##k##_give_preempted(void)                             \
	{                                                                      \
		klock_unlock_##how##_preempt_on with;                          \
	}                                                                      \
	static int x##_##k##_try_unpreempted(void)                             \
	{                                                                      \
		return klock_try_lock_##how##_preempt_off with;                \
	}
#define READ(x, with, by, by_flags)                                            \
	READ_AS(x, read, shared, with, by, by_flags)                           \
	static int x##_read_try_irqsave(unsigned long *flags)                  \
	{                                                                      \
		return klock_try_lock_shared_irqsave by_flags;                 \
	}

/* Taken with a node; twice each: with its address, and with who knows it. */
#define MAKE_MCS(x)                                                            \
	static struct klock_mcs_node x##_nodes[threads], x##_by_nodes[threads];\
	LOCK(x, x, FIRST_##x)                                                  \
	COMMON(x, (&x, &x##_nodes[self]))                                      \
	IRQSAVE(x, , (&x, &x##_nodes[self]), (&x, &x##_nodes[self], flags))    \
	TRY(x, (&x, &x##_nodes[self]), (&x, &x##_nodes[self], flags),          \
	    (&x, &x##_nodes[self], time))                                      \
	CONTENDED(x, (&x, &x##_nodes[self]))                                   \
	static struct klock_mcs_node *my_##x##_node(void)                      \
	{                                                                      \
		return &x##_by_nodes[self_id()];                               \
	}                                                                      \
	LOCK(x##_by, x, FIRST_##x)                                             \
	COMMON(x##_by, (&x##_by, &x##_by_nodes[self]))                         \
	IRQSAVE(x##_by, _by, (&x##_by, my_##x##_node),                         \
		(&x##_by, my_##x##_node, flags))                               \
	CONTENDED(x##_by, (&x##_by, &x##_by_nodes[self]))

/*
 * Nodes are zero bytes, or from a heap and copied from one that is made. After
 * its first use a node may have a cell of the lock: both are made anew.
 */
#define MAKE_CLH(x)                                                            \
	static struct klock_clh_node x##_nodes[threads], x##_by_nodes[threads];\
	static struct KLOCK(x) x = FIRST(x, KLOCK_CLH_INIT(INNER(x)));         \
	static void x##_spoil(void)                                            \
	{                                                                      \
		memset(&x, 0xa5, sizeof(x));                                   \
		memset(x##_nodes, 0, sizeof(x##_nodes));                       \
	}                                                                      \
	static void x##_init(void) { klock_init(&x); }                         \
	COMMON(x, (&x, &x##_nodes[self]))                                      \
	IRQSAVE(x, , (&x, x##_nodes, self_id), (&x, x##_nodes, self_id, flags))\
	CONTENDED(x, (&x, &x##_nodes[self]))                                   \
	static struct klock_clh_node *my_##x##_node(void)                      \
	{                                                                      \
		return &x##_by_nodes[self_id()];                               \
	}                                                                      \
	static struct KLOCK(x) x##_by =                                        \
		FIRST(x##_by, KLOCK_CLH_INIT(INNER(x##_by)));                  \
	static void x##_by_spoil(void)                                         \
	{                                                                      \
		memset(&x##_by, 0xa5, sizeof(x##_by));                         \
		memset(x##_by_nodes, 0xa5, sizeof(x##_by_nodes));              \
	}                                                                      \
	static void x##_by_init(void)                                          \
	{                                                                      \
		klock_init(&x##_by);                                           \
		klock_clh_node_init(&x##_by_nodes[0]);                         \
		for (unsigned i = 1; i < threads; i++)                         \
			x##_by_nodes[i] = x##_by_nodes[0];                     \
	}                                                                      \
	COMMON(x##_by, (&x##_by, &x##_by_nodes[self]))                         \
	IRQSAVE(x##_by, _by, (&x##_by, my_##x##_node),                         \
		(&x##_by, my_##x##_node, flags))                               \
	CONTENDED(x##_by, (&x##_by, &x##_by_nodes[self]))

#define MAKE(shape, x, v) AFTER_THE_LIST(MAKE_##shape)(x)
EACH(KLOCK_ALL(MAKE, ))

#define ENTRY_TICKET(x) ENTRY(x, TRIES(x, x##_is_contended)),
#define ENTRY_PROPORTIONAL(x) ENTRY_TICKET(x)
#define ENTRY_QUEUED(x) ENTRY_TICKET(x)
#define ENTRY_TIMEOUT(x) ENTRY_TICKET(x)
#define ENTRY_PADDED(x) ENTRY(x, NO_TRIES(x, x##_is_contended)),
#define ENTRY_BAKERY(x) ENTRY_PADDED(x)
#define ENTRY_TAS(x) ENTRY(x, TRIES(x, 0)),
#define ENTRY_READERS(x) ENTRY_TAS(x)
#define ENTRY_UPGRADABLE(x) ENTRY_TAS(x)
#define ENTRY_READER(x) ENTRY(x, NO_TRIES(x, 0)),
#define ENTRY_MCS(x) ENTRY_TICKET(x) ENTRY_PADDED(x##_by)
#define ENTRY_CLH(x) ENTRY_PADDED(x) ENTRY_PADDED(x##_by)
#define ENTRY_OF(shape, x, v) ENTRY_##shape(x)

static const struct kind kinds[] = {KLOCK_ALL(ENTRY_OF, )};

enum { kinds_here = sizeof(kinds) / sizeof(kinds[0]) };

/* -- The locks that readers share once more: to write, and to read -- */

struct shared_kind {
	struct kind writer;
	struct kind reader;
	void (*downgrade)(void);
	struct kind upgradable;
	void (*upgrade)(void);
	int (*try_upgrade)(void);
};

#define READ_BY(x, k, name, try_irqsave)                                       \
	{name, x##_spoil, x##_init, x##_##k##_take, x##_##k##_give,            \
	 x##_is_locked, x##_##k##_take_irqsave, x##_##k##_give_irqrestore,     \
	 x##_##k##_try_take, try_irqsave, 0, 0, 0, x##_##k##_take_unpreempted, \
	 x##_##k##_give_preempted, x##_##k##_try_unpreempted}
#define NO_KIND {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define MORE_READER(x) 0, NO_KIND, 0, 0
#define MORE_READERS(x) x##_downgrade, NO_KIND, 0, 0
#define MORE_UPGRADABLE(x)                                                     \
	x##_downgrade, READ_BY(x, upgradable, #x ", upgradable", 0),           \
	x##_upgrade, x##_try_upgrade
#define BOTH_OF(shape, x, v)                                                   \
	{ENTRY_##shape(x)                                                      \
	 READ_BY(x, read, #x ", to read", x##_read_try_irqsave),               \
	 MORE_##shape(x)},

static const struct shared_kind shared_kinds[] = {KLOCK_READERS(BOTH_OF, )};
/* clang-format on */

enum { shared_kinds_here = sizeof(shared_kinds) / sizeof(shared_kinds[0]) };
