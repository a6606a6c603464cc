/* SPDX-License-Identifier: MIT */
/*
 * queued - locks of 4 bytes with a queue of per-CPU nodes, for klock/klock.h:
 * first come, first served, and each waiter watches a line of its own
 *
 * For as many CPUs as the name says, each with 4 waits at once: thread, soft
 * interrupt, interrupt, NMI; say so:
 *
 *	_Static_assert(NCPU <= 64, "too many CPUs for klock_queued_64");
 *
 * Who has to wait asks the kernel for klock_os_cpu_id(). The nodes are the
 * library's, a cache line for each CPU and kind: 4 or 16 KiB. Zero bytes are a
 * free lock. No caller may be preempted, or moved to another CPU, while it
 * waits.
 *
 *	lock_from	lock, by a caller that knows the number of its CPU
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_QUEUED_INIT {0, 0}
/* clang-format on */

#define KLOCK_QUEUED_VERBS(x)                                                  \
	KLOCK_VERBS(x);                                                        \
	KLOCK_TRY_VERBS(x);                                                    \
	KLOCK_CONTENDED_VERB(x);                                               \
	void klock_##x##_lock_from(struct klock_##x *lock, unsigned cpu)

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

KLOCK_QUEUED_VERBS(queued_64);
KLOCK_QUEUED_VERBS(queued_256);

#ifdef __cplusplus
}
#endif
