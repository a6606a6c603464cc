/* SPDX-License-Identifier: MIT */
#include "spinlock.h"

/* Each CPU's own, touched with interrupts off; a line or more of its own. */
static struct pool {
	_Alignas(klock_cache_line) struct pool_node nodes[most_held];
	struct klock_irq_depth depth;
} pools[max_cpus];

struct klock_irq_depth *klock_os_irq_depth(void)
{
	return &pools[cpu_id()].depth;
}

/* Any free one: the last taken need not be the first to come back. */
static struct pool_node *free_node(void)
{
	struct pool_node *nodes = pools[cpu_id()].nodes;

	for (unsigned i = 0; i < most_held; i++) {
		if (!nodes[i].used) {
			nodes[i].used = 1;
			return &nodes[i];
		}
	}
	panic("more locks held than most_held");
}

void acquire(struct spinlock *lk)
{
	struct pool_node *mine;

	klock_push_off();
	mine = free_node();
	klock_lock(&lk->queue, &mine->node);
	lk->held = mine;
}

/* Called on the acquiring CPU, on any stack: interrupts stayed off. */
void release(struct spinlock *lk)
{
	struct pool_node *mine = lk->held;

	klock_unlock(&lk->queue, &mine->node);
	mine->used = 0;
	klock_pop_off();
}
