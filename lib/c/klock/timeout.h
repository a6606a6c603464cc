/* SPDX-License-Identifier: MIT */
/*
 * timeout - first come, first served, by a deadline, for klock/klock.h
 *
 *	if (!klock_timeout_8_try_lock_for(&lock, cpu, one_second))
 *		return -ETIMEDOUT;
 *
 * For CPUs 0 to 7 or 63, each under its own number; not all of them need exist.
 * Two lines of memory for each, and one. A deadlock, or a holder that has died,
 * is an error and no hang; whoever gives up and comes back has its old place,
 * if the turn has not passed it. Zero bytes are a free lock. Deadlines are of
 * klock_cycles().
 *
 * The irqsave calls ask cpu_id() for the number, with interrupts off.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_TIMEOUT_INIT {0, {{0}}, {{0, 0}}}
/* clang-format on */

/* A ticket's: free, granted, waited for, left. */
struct __attribute__((may_alias)) klock_timeout_slot {
	unsigned int klock_place __attribute__((aligned(klock_cache_line)));
};

/* A CPU's: its last ticket, and whether it waits. */
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
	};                                                                     \
	void klock_timeout_##cpus##_init(struct klock_timeout_##cpus *lock);   \
	void klock_timeout_##cpus##_lock(struct klock_timeout_##cpus *lock,    \
					 unsigned cpu);                        \
	void klock_timeout_##cpus##_unlock(struct klock_timeout_##cpus *lock,  \
					   unsigned cpu);                      \
	int klock_timeout_##cpus##_is_locked(                                  \
		const struct klock_timeout_##cpus *lock);                      \
	int klock_timeout_##cpus##_is_contended(                               \
		const struct klock_timeout_##cpus *lock);                      \
	unsigned long klock_timeout_##cpus##_lock_irqsave(                     \
		struct klock_timeout_##cpus *lock, unsigned (*cpu_id)(void));  \
	void klock_timeout_##cpus##_unlock_irqrestore(                         \
		struct klock_timeout_##cpus *lock, unsigned (*cpu_id)(void),   \
		unsigned long before);                                         \
	int klock_timeout_##cpus##_try_lock(struct klock_timeout_##cpus *lock, \
					    unsigned cpu);                     \
	int klock_timeout_##cpus##_try_lock_irqsave(                           \
		struct klock_timeout_##cpus *lock, unsigned (*cpu_id)(void),   \
		unsigned long *before);                                        \
	int klock_timeout_##cpus##_try_lock_until(                             \
		struct klock_timeout_##cpus *lock, unsigned cpu,               \
		unsigned long long deadline);                                  \
	int klock_timeout_##cpus##_try_lock_for(                               \
		struct klock_timeout_##cpus *lock, unsigned cpu,               \
		unsigned long long cycles)

KLOCK_TIMEOUT(8);
KLOCK_TIMEOUT(64);

#ifdef __cplusplus
}
#endif
