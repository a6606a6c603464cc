/* SPDX-License-Identifier: MIT */
/*
 * bakery - Lamport's lock for 4 to 64 CPUs, for klock/klock.h: first come,
 * first served, by loads, stores and fences only
 *
 * Each CPU takes it under its own number, below the lock's; not all of them
 * need exist. Zero bytes are a free lock. No try_lock.
 *
 * The irqsave calls ask cpu_id() for the number, with interrupts off: before
 * that the caller could still be moved to another CPU.
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
	};                                                                     \
	void klock_bakery_##cpus##_init(struct klock_bakery_##cpus *lock);     \
	void klock_bakery_##cpus##_lock(struct klock_bakery_##cpus *lock,      \
					unsigned cpu);                         \
	void klock_bakery_##cpus##_unlock(struct klock_bakery_##cpus *lock,    \
					  unsigned cpu);                       \
	int klock_bakery_##cpus##_is_locked(                                   \
		const struct klock_bakery_##cpus *lock);                       \
	int klock_bakery_##cpus##_is_contended(                                \
		const struct klock_bakery_##cpus *lock);                       \
	unsigned long klock_bakery_##cpus##_lock_irqsave(                      \
		struct klock_bakery_##cpus *lock, unsigned (*cpu_id)(void));   \
	void klock_bakery_##cpus##_unlock_irqrestore(                          \
		struct klock_bakery_##cpus *lock, unsigned (*cpu_id)(void),    \
		unsigned long before)

KLOCK_BAKERY(4);
KLOCK_BAKERY(8);
KLOCK_BAKERY(16);
KLOCK_BAKERY(32);
KLOCK_BAKERY(64);

#ifdef __cplusplus
}
#endif
