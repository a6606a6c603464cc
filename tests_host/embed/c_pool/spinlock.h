/* SPDX-License-Identifier: MIT */
/*
 * spinlock - a kernel's acquire() and release() on an MCS queue
 *
 * The node of an MCS lock is lent from lock to unlock. acquire() has no place
 * for it on its own stack, since release() is called from elsewhere, in any
 * order, and after a switch of stacks (a scheduler's lock is taken by one
 * thread and released by the next). So each CPU has a pool of nodes.
 */
#pragma once

#include <klock/klock.h>

enum {
	max_cpus = 64,
	most_held = 8, /* locks that one CPU holds at a time */
};

struct pool_node {
	struct klock_mcs_node node;
	int used;
};

struct spinlock {
	struct klock_mcs queue; /* zero bytes: free */
	struct pool_node *held; /* the holder's: it alone reads and writes */
};

void acquire(struct spinlock *lk);
void release(struct spinlock *lk);

/* The kernel's. */
unsigned cpu_id(void);
_Noreturn void panic(const char *why);
