/* SPDX-License-Identifier: MIT */
/*
 * bakery - Lamport's lock for 4 to 64 CPUs, for klock/klock.h: first come,
 * first served, by loads, stores and fences only
 *
 * Each CPU takes it under its own number, below the lock's; not all of them
 * need exist. Zero bytes are a free lock. No try_lock.
 *
 * The irqsave calls call cpu_id() for the number after interrupts went off:
 * before, the caller could still be moved to another CPU.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_BAKERY_INIT {{0}}
/* clang-format on */

/* bakery_lock<cpus> */
#define KLOCK_BAKERY(cpus)                                                     \
	struct __attribute__((may_alias)) klock_bakery_##cpus {                \
		unsigned int klock_number[cpus];                               \
	}

KLOCK_BAKERY(4);
KLOCK_BAKERY(8);
KLOCK_BAKERY(16);
KLOCK_BAKERY(32);
KLOCK_BAKERY(64);

KLOCK_BAKERIES(KLOCK_DECLARE_KIND, )

/*
 * -- Timeout: first come, first served, by a deadline --
 *
 *	if (!klock_try_lock_for(&lock, cpu, one_second))
 *		return -ETIMEDOUT;
 *
 * For CPUs 0 to 7 or 63, each under its own number; not all of them need exist.
 * Its size is two cache lines for each CPU, and one more. A deadlock, or a
 * holder that has died, is an error and no hang. A caller that gave up and
 * comes back has its old ticket, if it has not been passed over. Zero bytes are
 * a free lock. Deadlines are times of klock_cycles().
 */
/* clang-format off */
#define KLOCK_TIMEOUT_INIT {0, {{0}}, {{0, 0}}}
/* clang-format on */

/* A ticket's slot: free, granted, waited for, left. */
struct __attribute__((may_alias)) klock_timeout_slot {
	unsigned int klock_place __attribute__((aligned(klock_cache_line)));
};

/* A CPU's state: its last ticket, and whether it waits. */
struct __attribute__((may_alias)) klock_timeout_record {
	unsigned int klock_ticket __attribute__((aligned(klock_cache_line)));
	unsigned char klock_stands;
};

/* timeout_lock<cpus> */
#define KLOCK_TIMEOUT(cpus)                                                    \
	struct __attribute__((may_alias)) klock_timeout_##cpus {               \
		unsigned int klock_next                                        \
			__attribute__((aligned(klock_cache_line)));            \
		struct klock_timeout_slot klock_slots[cpus];                   \
		struct klock_timeout_record klock_records[cpus];               \
	}

KLOCK_TIMEOUT(8);
KLOCK_TIMEOUT(64);

KLOCK_TIMEOUTS(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
