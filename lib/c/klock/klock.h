/* SPDX-License-Identifier: MIT */
/*
 * klock.h - klock's locks for kernels written in C: C11, C17, GCC and clang
 *
 *	static struct klock_ticket_u8 runqueue_lock = KLOCK_TICKET_INIT;
 *
 *	unsigned long flags = klock_ticket_u8_lock_irqsave(&runqueue_lock);
 *	...
 *	klock_ticket_u8_unlock_irqrestore(&runqueue_lock, flags);
 *
 * Include path: lib/c. The code is that of the C++ headers, in libklock.a
 * (lib/c/Makefile); compile both with -flto and it is inlined. This header
 * includes nothing, defines no type but its own, and every name that it does
 * define begins with klock_ or KLOCK_.
 *
 * The verbs, X for the kind of lock:
 *
 *	klock_X_lock()		waits until the caller is the holder
 *	klock_X_try_lock()	1 if taken, 0 if not; never waits, and never
 *				fails while the lock is free
 *	klock_X_unlock()	the holder's alone
 *	klock_X_is_locked()	a hint, old when it arrives
 *	klock_X_lock_irqsave()	interrupts off, then the lock; returns what
 *				they were, for the caller to keep
 *	klock_X_unlock_irqrestore()	unlocks, then interrupts as they were
 *
 * Context: any; where a handler takes the lock too, by the irqsave pair. An NMI
 * handler may only try_lock. No recursion. Which lock to take, what each costs
 * and guarantees: lib/README.md, and the headers in lib/klock.
 *
 * The members of the structures are the library's.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* What the library was built from: "0.1.0" */
const char *klock_version(void);

/*
 * This CPU's interrupt flag: for a try_lock with interrupts off, and for two
 * locks at once. Off, and what it was; back to what it was.
 */
unsigned long klock_irq_save(void);
void klock_irq_restore(unsigned long before);

/*
 * -- Tickets: first come, first served --
 *
 * Zero bytes are a free lock. At most KLOCK_TICKET_..._CONTENDERS contexts
 * (CPUs x thread, interrupt, NMI) may hold or wait at once; say so:
 *
 *	_Static_assert(2 * NCPU <= KLOCK_TICKET_U8_CONTENDERS, "too many CPUs");
 */
/* clang-format off */
#define KLOCK_TICKET_INIT {0, 0}
/* clang-format on */

#define KLOCK_TICKET_U8_CONTENDERS 256ull
#define KLOCK_TICKET_U16_CONTENDERS 65536ull
#define KLOCK_TICKET_U32_CONTENDERS 4294967296ull

/* ticket_lock<u8>: 2 bytes */
struct __attribute__((aligned(2), may_alias)) klock_ticket_u8 {
	unsigned char klock_next;
	unsigned char klock_owner;
};

void klock_ticket_u8_lock(struct klock_ticket_u8 *lock);
int klock_ticket_u8_try_lock(struct klock_ticket_u8 *lock);
void klock_ticket_u8_unlock(struct klock_ticket_u8 *lock);
int klock_ticket_u8_is_locked(const struct klock_ticket_u8 *lock);
unsigned long klock_ticket_u8_lock_irqsave(struct klock_ticket_u8 *lock);
void klock_ticket_u8_unlock_irqrestore(struct klock_ticket_u8 *lock,
				       unsigned long before);

/* ticket_lock<u16>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_ticket_u16 {
	unsigned short klock_next;
	unsigned short klock_owner;
};

void klock_ticket_u16_lock(struct klock_ticket_u16 *lock);
int klock_ticket_u16_try_lock(struct klock_ticket_u16 *lock);
void klock_ticket_u16_unlock(struct klock_ticket_u16 *lock);
int klock_ticket_u16_is_locked(const struct klock_ticket_u16 *lock);
unsigned long klock_ticket_u16_lock_irqsave(struct klock_ticket_u16 *lock);
void klock_ticket_u16_unlock_irqrestore(struct klock_ticket_u16 *lock,
					unsigned long before);

/* ticket_lock<u32>: 8 bytes */
struct __attribute__((aligned(8), may_alias)) klock_ticket_u32 {
	unsigned int klock_next;
	unsigned int klock_owner;
};

void klock_ticket_u32_lock(struct klock_ticket_u32 *lock);
int klock_ticket_u32_try_lock(struct klock_ticket_u32 *lock);
void klock_ticket_u32_unlock(struct klock_ticket_u32 *lock);
int klock_ticket_u32_is_locked(const struct klock_ticket_u32 *lock);
unsigned long klock_ticket_u32_lock_irqsave(struct klock_ticket_u32 *lock);
void klock_ticket_u32_unlock_irqrestore(struct klock_ticket_u32 *lock,
					unsigned long before);

/*
 * -- Test-and-set: one byte, any number of contenders, no order of service --
 *
 * Zero bytes are a free lock.
 */
/* clang-format off */
#define KLOCK_TAS_INIT {0}
#define KLOCK_TTAS_INIT {0}
#define KLOCK_BACKOFF_TTAS_INIT {0}
/* clang-format on */

/* tas_lock: a waiter writes again and again */
struct __attribute__((may_alias)) klock_tas {
	unsigned char klock_taken;
};

void klock_tas_lock(struct klock_tas *lock);
int klock_tas_try_lock(struct klock_tas *lock);
void klock_tas_unlock(struct klock_tas *lock);
int klock_tas_is_locked(const struct klock_tas *lock);
unsigned long klock_tas_lock_irqsave(struct klock_tas *lock);
void klock_tas_unlock_irqrestore(struct klock_tas *lock, unsigned long before);

/* ttas_lock: a waiter reads until it is free */
struct __attribute__((may_alias)) klock_ttas {
	unsigned char klock_taken;
};

void klock_ttas_lock(struct klock_ttas *lock);
int klock_ttas_try_lock(struct klock_ttas *lock);
void klock_ttas_unlock(struct klock_ttas *lock);
int klock_ttas_is_locked(const struct klock_ttas *lock);
unsigned long klock_ttas_lock_irqsave(struct klock_ttas *lock);
void klock_ttas_unlock_irqrestore(struct klock_ttas *lock,
				  unsigned long before);

/* backoff_ttas_lock: a waiter reads ever more seldom */
struct __attribute__((may_alias)) klock_backoff_ttas {
	unsigned char klock_taken;
};

void klock_backoff_ttas_lock(struct klock_backoff_ttas *lock);
int klock_backoff_ttas_try_lock(struct klock_backoff_ttas *lock);
void klock_backoff_ttas_unlock(struct klock_backoff_ttas *lock);
int klock_backoff_ttas_is_locked(const struct klock_backoff_ttas *lock);
unsigned long klock_backoff_ttas_lock_irqsave(struct klock_backoff_ttas *lock);
void klock_backoff_ttas_unlock_irqrestore(struct klock_backoff_ttas *lock,
					  unsigned long before);

/*
 * -- Queues: first come, first served; each waiter watches a line of its own --
 *
 * Any number of contexts, each with a node of its own.
 */

/*
 * mcs_lock: zero bytes are a free lock. A node needs no initialiser, may live
 * on the stack, and is lent from lock to unlock.
 */
/* clang-format off */
#define KLOCK_MCS_INIT {0}
/* clang-format on */

/* One acquisition's place in the queue. */
struct __attribute__((may_alias)) klock_mcs_node {
	struct klock_mcs_node *klock_next;
	unsigned char klock_waits;
};

/* The lock. */
struct __attribute__((may_alias)) klock_mcs {
	struct klock_mcs_node *klock_tail;
};

void klock_mcs_lock(struct klock_mcs *lock, struct klock_mcs_node *mine);
int klock_mcs_try_lock(struct klock_mcs *lock, struct klock_mcs_node *mine);
void klock_mcs_unlock(struct klock_mcs *lock, struct klock_mcs_node *mine);
int klock_mcs_is_locked(const struct klock_mcs *lock);
unsigned long klock_mcs_lock_irqsave(struct klock_mcs *lock,
				     struct klock_mcs_node *mine);
void klock_mcs_unlock_irqrestore(struct klock_mcs *lock,
				 struct klock_mcs_node *mine,
				 unsigned long before);

/*
 * clh_lock: no try_lock. A lock and its nodes point into themselves: each is
 * initialised with its own name, or by its init function before its first use.
 * A node must live as long as any lock that it was used with: static, one for
 * each CPU and nesting level, never the stack.
 *
 *	static struct klock_clh l = KLOCK_CLH_INIT(l);
 *	static struct klock_clh_node n[2] = {KLOCK_CLH_NODE_INIT(n[0]),
 *					     KLOCK_CLH_NODE_INIT(n[1])};
 */
/* clang-format off */
#define KLOCK_CLH_INIT(name) {&(name).klock_first, {0}}
#define KLOCK_CLH_NODE_INIT(name) {{0}, &(name).klock_first, 0}
/* clang-format on */

/* The port's; the library refuses to be compiled with another. */
#ifndef KLOCK_CACHE_LINE
#define KLOCK_CACHE_LINE 64
#endif

/* What the next in the queue watches; moves from node to node. */
struct __attribute__((may_alias)) klock_clh_cell {
	unsigned char klock_busy;
};

/* One context's place in the queue, for one lock at a time. */
struct __attribute__((may_alias)) klock_clh_node {
	struct klock_clh_cell klock_first
		__attribute__((aligned(KLOCK_CACHE_LINE)));
	struct klock_clh_cell *klock_mine
		__attribute__((aligned(KLOCK_CACHE_LINE)));
	struct klock_clh_cell *klock_predecessor;
};

/* The lock. */
struct __attribute__((may_alias)) klock_clh {
	struct klock_clh_cell *klock_tail
		__attribute__((aligned(KLOCK_CACHE_LINE)));
	struct klock_clh_cell klock_first
		__attribute__((aligned(KLOCK_CACHE_LINE)));
};

void klock_clh_init(struct klock_clh *lock);
void klock_clh_node_init(struct klock_clh_node *node);

void klock_clh_lock(struct klock_clh *lock, struct klock_clh_node *mine);
void klock_clh_unlock(struct klock_clh *lock, struct klock_clh_node *mine);
int klock_clh_is_locked(const struct klock_clh *lock);
unsigned long klock_clh_lock_irqsave(struct klock_clh *lock,
				     struct klock_clh_node *mine);
void klock_clh_unlock_irqrestore(struct klock_clh *lock,
				 struct klock_clh_node *mine,
				 unsigned long before);

#ifdef __cplusplus
}
#endif
