/* SPDX-License-Identifier: MIT */
/*
 * queue - locks with a queue of nodes, for klock/klock.h: first come, first
 * served, and each waiter watches a line of its own
 *
 * Any number of contexts, each with a node of its own.
 *
 * A caller that uses a node of its CPU must have interrupts off before it asks
 * for the CPU's number: otherwise it may be moved to another CPU in between, or
 * a handler may take the same node. So the irqsave calls take a function, and
 * not the node:
 *
 *	lock_irqsave_by(lock, mine)	mine() finds the caller's node; asked
 *				with interrupts off, by unlock as well
 *	lock_irqsave(lock, nodes, cpu_id)	clh: nodes[cpu_id()]
 *	lock_irqsave(lock, &node)	mcs, with a node on the stack: it is the
 *				caller's, wherever the caller runs
 *
 * C has no local functions: mine() knows the lock's nodes by their name. The
 * queued locks at the end have nodes of their own.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * -- mcs_lock --
 *
 * Zero bytes are a free lock. A node needs no initialiser, may live on the
 * stack, and is lent from lock to unlock.
 */
/* clang-format off */
#define KLOCK_MCS_INIT {0}
/* clang-format on */

/* The node of one acquisition. */
struct __attribute__((may_alias)) klock_mcs_node {
	struct klock_mcs_node *klock_next;
	unsigned char klock_waits;
};

/* The lock. */
struct __attribute__((may_alias)) klock_mcs {
	struct klock_mcs_node *klock_tail;
};

/*
 * -- clh_lock --
 *
 * No try_lock. A lock points into itself: it is initialised with its own name,
 * or by its init function. A node of zero bytes is ready, and so is a copy of
 * one that has not been used; after that it is neither copied nor cleared. It
 * must live as long as any lock that it was used with: static, one for each CPU
 * and nesting level, never the stack.
 *
 *	static struct klock_clh lock = KLOCK_CLH_INIT(lock);
 *	static struct klock_clh_node nodes[NCPU];
 */
/* clang-format off */
#define KLOCK_CLH_INIT(name) {&(name).klock_first, {0}}
#define KLOCK_CLH_NODE_INIT {{0}, 0, 0}
/* clang-format on */

/* The next waiter watches it; it moves from node to node. */
struct __attribute__((may_alias)) klock_clh_cell {
	unsigned char klock_busy;
};

/* One context's node, for one lock at a time. */
struct __attribute__((may_alias)) klock_clh_node {
	struct klock_clh_cell klock_first
		__attribute__((aligned(klock_cache_line)));
	struct klock_clh_cell *klock_mine
		__attribute__((aligned(klock_cache_line)));
	struct klock_clh_cell *klock_queued;
};

/* The lock. */
struct __attribute__((may_alias)) klock_clh {
	struct klock_clh_cell *klock_tail
		__attribute__((aligned(klock_cache_line)));
	struct klock_clh_cell klock_first
		__attribute__((aligned(klock_cache_line)));
};

KLOCK_NODES(KLOCK_DECLARE_KIND, )
void klock_clh_node_init(struct klock_clh_node *node);

/*
 * -- Queued: 4 bytes, and a queue of per-CPU nodes --
 *
 * For as many CPUs as the name says, each with 4 waits at once: thread, soft
 * interrupt, interrupt, NMI; say so:
 *
 *	_Static_assert(NCPU <= 64, "too many CPUs for klock_queued_64");
 *
 * A caller that must wait calls klock_os_cpu_id(). The nodes are in the
 * library, a cache line for each CPU and kind: 4 or 16 KiB. Zero bytes are a
 * free lock. No caller may be preempted, or moved to another CPU, while it
 * waits.
 *
 *	lock_from	lock, by a caller that knows the number of its CPU
 */
/* clang-format off */
#define KLOCK_QUEUED_INIT {0, 0}
/* clang-format on */

/* queued_lock<64>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_queued_64 {
	unsigned short klock_locked;
	unsigned short klock_tail;
};

/* queued_lock<256>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_queued_256 {
	unsigned short klock_locked;
	unsigned short klock_tail;
};

KLOCK_QUEUEDS(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
