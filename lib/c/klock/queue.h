/* SPDX-License-Identifier: MIT */
/*
 * queue - locks with a queue of nodes, for klock/klock.h: first come, first
 * served, and each waiter watches a line of its own
 *
 * Any number of contexts, each with a node of its own.
 *
 * Whoever takes a node that belongs to this CPU must have interrupts off
 * before it asks which CPU this is: else it is moved to another in between, or
 * a handler takes the same node. So the irqsave calls are given a function to
 * ask, and not the node:
 *
 *	lock_irqsave_by(lock, mine)	mine() finds the caller's node; asked
 *				with interrupts off, by unlock as well
 *
 * C has no local functions: mine() knows the lock's nodes by their name.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All that both have; x: mcs, clh. */
#define KLOCK_NODE_VERBS(x)                                                    \
	void klock_##x##_init(struct klock_##x *lock);                         \
	void klock_##x##_lock(struct klock_##x *lock,                          \
			      struct klock_##x##_node *mine);                  \
	void klock_##x##_unlock(struct klock_##x *lock,                        \
				struct klock_##x##_node *mine);                \
	int klock_##x##_is_locked(const struct klock_##x *lock);               \
	/* Asked by the holder, with its node. */                              \
	int klock_##x##_is_contended(const struct klock_##x *lock,             \
				     const struct klock_##x##_node *mine);     \
	unsigned long klock_##x##_lock_irqsave_by(                             \
		struct klock_##x *lock,                                        \
		struct klock_##x##_node *(*mine)(void));                       \
	void klock_##x##_unlock_irqrestore_by(                                 \
		struct klock_##x *lock,                                        \
		struct klock_##x##_node *(*mine)(void), unsigned long before)

/*
 * -- mcs_lock --
 *
 * Zero bytes are a free lock. A node needs no initialiser, may live on the
 * stack, and is lent from lock to unlock.
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

KLOCK_NODE_VERBS(mcs);
int klock_mcs_try_lock(struct klock_mcs *lock, struct klock_mcs_node *mine);
int klock_mcs_try_lock_until(struct klock_mcs *lock,
			     struct klock_mcs_node *mine,
			     unsigned long long deadline);
int klock_mcs_try_lock_for(struct klock_mcs *lock, struct klock_mcs_node *mine,
			   unsigned long long cycles);

/* With a node on the stack: it is the caller's, wherever the caller runs. */
unsigned long klock_mcs_lock_irqsave(struct klock_mcs *lock,
				     struct klock_mcs_node *mine);
int klock_mcs_try_lock_irqsave(struct klock_mcs *lock,
			       struct klock_mcs_node *mine,
			       unsigned long *before);
void klock_mcs_unlock_irqrestore(struct klock_mcs *lock,
				 struct klock_mcs_node *mine,
				 unsigned long before);

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

/* What the next in the queue watches; moves from node to node. */
struct __attribute__((may_alias)) klock_clh_cell {
	unsigned char klock_busy;
};

/* One context's place in the queue, for one lock at a time. */
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

KLOCK_NODE_VERBS(clh);
void klock_clh_node_init(struct klock_clh_node *node);

/* With a node for each CPU: nodes[cpu_id()] is asked for with interrupts off.
 */
unsigned long klock_clh_lock_irqsave(struct klock_clh *lock,
				     struct klock_clh_node *nodes,
				     unsigned (*cpu_id)(void));
void klock_clh_unlock_irqrestore(struct klock_clh *lock,
				 struct klock_clh_node *nodes,
				 unsigned (*cpu_id)(void),
				 unsigned long before);

#ifdef __cplusplus
}
#endif
