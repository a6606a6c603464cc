/* SPDX-License-Identifier: MIT */
/*
 * kinds - every lock of klock.h behind one table, for the tests
 *
 * With CHECKED defined, the same of their checked forms.
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
static int asked_too_early;

/* The kernel's answer; queued and checked locks ask. */
unsigned klock_os_cpu_id(void) { return self; }

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
};

/* -- One verb each; with: the arguments, in their brackets -- */

/* clang-format off */
#define LOCK(k, x, ...)                                                        \
	static struct KLOCK(x) k = FIRST(k, __VA_ARGS__);                            \
	static void k##_spoil(void) { memset(&k, 0xa5, sizeof(k)); }           \
	static void k##_init(void) { klock_init(&k); }

#define COMMON(k, with)                                                        \
	static void k##_take(void) { klock_lock with; }                        \
	static void k##_give(void) { klock_unlock with; }                      \
	static int k##_is_locked(void) { return klock_is_locked(&k); }

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
	static int k##_try_irqsave(unsigned long *flags)                       \
	{                                                                      \
		return klock_try_lock_irqsave with_flags;                      \
	}

#define CONTENDED(k, with)                                                     \
	static int k##_is_contended(void) { return klock_is_contended with; }

#define ENTRY(k, ...)                                                          \
	{#k, k##_spoil, k##_init, k##_take, k##_give, k##_is_locked,           \
	 k##_take_irqsave, k##_give_irqrestore, __VA_ARGS__}

/* -- Taken alone -- */

#define PLAIN(k, x, ...)                                                       \
	LOCK(k, x, __VA_ARGS__) COMMON(k, (&k)) IRQSAVE(k, , (&k), (&k, flags))
#define TAS(k, x, ...)                                                         \
	PLAIN(k, x, __VA_ARGS__) TRY(k, (&k), (&k, flags), (&k, time))
#define TICKET(k, x, ...)   TAS(k, x, __VA_ARGS__) CONTENDED(k, (&k))
#define PADDED(k, x, ...)   PLAIN(k, x, __VA_ARGS__) CONTENDED(k, (&k))

TICKET(ticket_u8, ticket_u8, KLOCK_TICKET_INIT)
TICKET(ticket_u16, ticket_u16, KLOCK_TICKET_INIT)
TICKET(ticket_u32, ticket_u32, KLOCK_TICKET_INIT)
TICKET(preemptable_ticket_u8, preemptable_ticket_u8, KLOCK_PREEMPTABLE_TICKET_INIT)
TICKET(preemptable_ticket_u16, preemptable_ticket_u16, KLOCK_PREEMPTABLE_TICKET_INIT)
TICKET(queued_64, queued_64, KLOCK_QUEUED_INIT)
TICKET(queued_256, queued_256, KLOCK_QUEUED_INIT)
TICKET(narrow_ticket_2, narrow_ticket_2, KLOCK_NARROW_TICKET_INIT)
TICKET(narrow_ticket_3, narrow_ticket_3, KLOCK_NARROW_TICKET_INIT)
TICKET(narrow_ticket_4, narrow_ticket_4, KLOCK_NARROW_TICKET_INIT)
PADDED(padded_ticket_u8, padded_ticket_u8, KLOCK_PADDED_TICKET_INIT)
PADDED(padded_ticket_u16, padded_ticket_u16, KLOCK_PADDED_TICKET_INIT)
PADDED(padded_ticket_u32, padded_ticket_u32, KLOCK_PADDED_TICKET_INIT)
TICKET(proportional_u8, proportional_ticket_u8, KLOCK_PROPORTIONAL_TICKET_INIT(1))
TICKET(proportional_u16, proportional_ticket_u16, KLOCK_PROPORTIONAL_TICKET_INIT(1))
TICKET(proportional_u32, proportional_ticket_u32, KLOCK_PROPORTIONAL_TICKET_INIT(1))
TAS(tas, tas, KLOCK_TAS_INIT)
TAS(ttas, ttas, KLOCK_TTAS_INIT)
TAS(backoff_ttas, backoff_ttas, KLOCK_BACKOFF_TTAS_INIT)

/* -- Written; the readers are below -- */

TAS(rw_ticket_u8, rw_ticket_u8, KLOCK_RW_TICKET_INIT)
TAS(rw_ticket_u16, rw_ticket_u16, KLOCK_RW_TICKET_INIT)
TAS(phase_fair_u8, phase_fair_u8, KLOCK_PHASE_FAIR_INIT)
TAS(phase_fair_u16, phase_fair_u16, KLOCK_PHASE_FAIR_INIT)
PLAIN(reader_8, reader_8, KLOCK_READER_INIT)
PLAIN(reader_64, reader_64, KLOCK_READER_INIT)
PLAIN(reader_256, reader_256, KLOCK_READER_INIT)

/* -- Taken under a number -- */

#define NUMBERED(x, ...)                                                       \
	LOCK(x, x, __VA_ARGS__)                                                      \
	COMMON(x, (&x, self))                                                  \
	IRQSAVE(x, , (&x, self_id), (&x, self_id, flags))                      \
	CONTENDED(x, (&x))
#define TIMEOUT(x)                                                             \
	NUMBERED(x, KLOCK_TIMEOUT_INIT)                                        \
	TRY(x, (&x, self), (&x, self_id, flags), (&x, self, time))

TIMEOUT(timeout_8)
TIMEOUT(timeout_64)
NUMBERED(bakery_4, KLOCK_BAKERY_INIT)
NUMBERED(bakery_8, KLOCK_BAKERY_INIT)
NUMBERED(bakery_16, KLOCK_BAKERY_INIT)
NUMBERED(bakery_32, KLOCK_BAKERY_INIT)
NUMBERED(bakery_64, KLOCK_BAKERY_INIT)

/* -- Taken with a node; twice each: with its address, and with who knows it */

static struct klock_mcs_node mcs_nodes[threads], mcs_by_nodes[threads];

LOCK(mcs, mcs, KLOCK_MCS_INIT)
COMMON(mcs, (&mcs, &mcs_nodes[self]))
IRQSAVE(mcs, , (&mcs, &mcs_nodes[self]), (&mcs, &mcs_nodes[self], flags))
TRY(mcs, (&mcs, &mcs_nodes[self]), (&mcs, &mcs_nodes[self], flags), (&mcs, &mcs_nodes[self], time))
CONTENDED(mcs, (&mcs, &mcs_nodes[self]))

static struct klock_mcs_node *my_mcs_node(void)
{
	return &mcs_by_nodes[self_id()];
}

LOCK(mcs_by, mcs, KLOCK_MCS_INIT)
COMMON(mcs_by, (&mcs_by, &mcs_by_nodes[self]))
IRQSAVE(mcs_by, _by, (&mcs_by, my_mcs_node), (&mcs_by, my_mcs_node, flags))
CONTENDED(mcs_by, (&mcs_by, &mcs_by_nodes[self]))

/* Zero bytes. */
static struct klock_clh_node clh_nodes[threads];

LOCK(clh, clh, KLOCK_CLH_INIT(INNER(clh)))
COMMON(clh, (&clh, &clh_nodes[self]))
IRQSAVE(clh, , (&clh, clh_nodes, self_id), (&clh, clh_nodes, self_id, flags))
CONTENDED(clh, (&clh, &clh_nodes[self]))

/* Nodes from a heap, and copied from one that is initialised. */
static struct klock_clh_node clh_by_nodes[threads];
static struct KLOCK(clh) clh_by = FIRST(clh_by, KLOCK_CLH_INIT(INNER(clh_by)));

static struct klock_clh_node *my_clh_node(void)
{
	return &clh_by_nodes[self_id()];
}

static void clh_by_spoil(void)
{
	memset(&clh_by, 0xa5, sizeof(clh_by));
	memset(clh_by_nodes, 0xa5, sizeof(clh_by_nodes));
}

static void clh_by_init(void)
{
	klock_init(&clh_by);
	klock_clh_node_init(&clh_by_nodes[0]);
	for (unsigned i = 1; i < threads; i++)
		clh_by_nodes[i] = clh_by_nodes[0];
}

COMMON(clh_by, (&clh_by, &clh_by_nodes[self]))
IRQSAVE(clh_by, _by, (&clh_by, my_clh_node), (&clh_by, my_clh_node, flags))
CONTENDED(clh_by, (&clh_by, &clh_by_nodes[self]))
/* clang-format on */

/* clang-format off */
#define TRIES(k) k##_try_take, k##_try_irqsave, k##_try_until, k##_try_for
#define NO_TRIES 0, 0, 0, 0
/* clang-format on */
#define FULL(k) ENTRY(k, TRIES(k), k##_is_contended)
#define TRY_ALONE(k) ENTRY(k, TRIES(k), 0)
#define NO_TRY(k) ENTRY(k, NO_TRIES, k##_is_contended)

static const struct kind kinds[] = {
	FULL(ticket_u8),
	FULL(ticket_u16),
	FULL(ticket_u32),
	FULL(preemptable_ticket_u8),
	FULL(preemptable_ticket_u16),
	FULL(queued_64),
	FULL(queued_256),
	FULL(narrow_ticket_2),
	FULL(narrow_ticket_3),
	FULL(narrow_ticket_4),
	NO_TRY(padded_ticket_u8),
	NO_TRY(padded_ticket_u16),
	NO_TRY(padded_ticket_u32),
	FULL(proportional_u8),
	FULL(proportional_u16),
	FULL(proportional_u32),
	TRY_ALONE(tas),
	TRY_ALONE(ttas),
	TRY_ALONE(backoff_ttas),
	TRY_ALONE(rw_ticket_u8),
	TRY_ALONE(rw_ticket_u16),
	TRY_ALONE(phase_fair_u8),
	TRY_ALONE(phase_fair_u16),
	ENTRY(reader_8, NO_TRIES, 0),
	ENTRY(reader_64, NO_TRIES, 0),
	ENTRY(reader_256, NO_TRIES, 0),
	FULL(timeout_8),
	FULL(timeout_64),
	NO_TRY(bakery_4),
	NO_TRY(bakery_8),
	NO_TRY(bakery_16),
	NO_TRY(bakery_32),
	NO_TRY(bakery_64),
	FULL(mcs),
	NO_TRY(mcs_by),
	NO_TRY(clh),
	NO_TRY(clh_by),
};

enum { kinds_here = sizeof(kinds) / sizeof(kinds[0]) };

/* -- The locks that readers share once more: taken to read -- */

/* One lock, to write and to read. */
struct shared_kind {
	struct kind writer;
	struct kind reader;
};

/* with: the arguments, in their brackets */
/* clang-format off */
#define READ(x, with, by, with_flags, by_flags)                                \
	static void x##_read_take(void) { klock_lock_shared with; }       \
	static void x##_read_give(void) { klock_unlock_shared with; }     \
	static unsigned long x##_read_take_irqsave(void)                       \
	{                                                                      \
		return klock_lock_shared_irqsave by;                      \
	}                                                                      \
	static void x##_read_give_irqrestore(unsigned long flags)              \
	{                                                                      \
		klock_unlock_shared_irqrestore with_flags;                \
	}                                                                      \
	static int x##_read_try_take(void)                                     \
	{                                                                      \
		return klock_try_lock_shared with;                        \
	}                                                                      \
	static int x##_read_try_irqsave(unsigned long *flags)                  \
	{                                                                      \
		return klock_try_lock_shared_irqsave by_flags;            \
	}

#define READ_PLAIN(x) READ(x, (&x), (&x), (&x, flags), (&x, flags))
#define READ_BY_CPU(x)                                                         \
	READ(x, (&x, self), (&x, self_id), (&x, self_id, flags),               \
	     (&x, self_id, flags))

READ_PLAIN(rw_ticket_u8)
READ_PLAIN(rw_ticket_u16)
READ_PLAIN(phase_fair_u8)
READ_PLAIN(phase_fair_u16)
READ_BY_CPU(reader_8)
READ_BY_CPU(reader_64)
READ_BY_CPU(reader_256)

#define SHARED(x, ...)                                                         \
	{ENTRY(x, __VA_ARGS__, 0),                                             \
	 {#x ", to read", x##_spoil, x##_init, x##_read_take, x##_read_give,   \
	  x##_is_locked, x##_read_take_irqsave, x##_read_give_irqrestore,      \
	  x##_read_try_take, x##_read_try_irqsave, 0, 0, 0}}
#define SHARED_TRY(x) SHARED(x, TRIES(x))
#define SHARED_ONLY(x) SHARED(x, NO_TRIES)
/* clang-format on */

static const struct shared_kind shared_kinds[] = {
	SHARED_TRY(rw_ticket_u8),  SHARED_TRY(rw_ticket_u16),
	SHARED_TRY(phase_fair_u8), SHARED_TRY(phase_fair_u16),
	SHARED_ONLY(reader_8),	   SHARED_ONLY(reader_64),
	SHARED_ONLY(reader_256),
};

enum { shared_kinds_here = sizeof(shared_kinds) / sizeof(shared_kinds[0]) };
