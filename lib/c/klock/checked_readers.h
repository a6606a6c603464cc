/* SPDX-License-Identifier: MIT */
/*
 * checked_readers - checked locks that readers share, for klock/klock.h
 *
 *	static struct klock_checked_phase_fair_u8 routes_lock =
 *		KLOCK_CHECKED_INIT("routes", KLOCK_PHASE_FAIR_INIT);
 *
 *	klock_checked_phase_fair_u8_lock_shared(&routes_lock);
 *
 * As checked.h, and of readers besides: one who reads it already, where reads
 * do not nest; one who reads and locks to write; an unlock_shared by who does
 * not read; more readers than there is room for; and in a handler or an NMI as
 * of writers.
 */
#pragma once

#include <klock/checked.h>
#include <klock/readers.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a lock knows of its readers. */
struct __attribute__((may_alias)) klock_shared_usage {
	/* The C++ shared_usage. */
	unsigned int klock_counts[2];
	void *klock_in[8];
};

/* All that have readers; their writers as in checked.h. */
#define KLOCK_CHECKED_SHARED(x)                                                \
	struct __attribute__((may_alias)) klock_checked_##x {                  \
		struct klock_usage klock_usage;                                \
		struct klock_shared_usage klock_shared;                        \
		struct klock_##x klock_inner;                                  \
	};                                                                     \
	KLOCK_CHECKED_STATE_VERBS(x);                                          \
	KLOCK_CHECKED_PLAIN_CALLS(x)

#define KLOCK_CHECKED_READERS_WITHOUT_TRY(x)                                   \
	KLOCK_CHECKED_SHARED(x);                                               \
	void klock_checked_##x##_lock_shared_at(                               \
		struct klock_checked_##x *lock, const char *file, int line);   \
	void klock_checked_##x##_unlock_shared_at(                             \
		struct klock_checked_##x *lock, const char *file, int line);   \
	int klock_checked_##x##_try_lock_shared_at(                            \
		struct klock_checked_##x *lock, const char *file, int line);   \
	unsigned long klock_checked_##x##_lock_shared_irqsave_at(              \
		struct klock_checked_##x *lock, const char *file, int line);   \
	int klock_checked_##x##_try_lock_shared_irqsave_at(                    \
		struct klock_checked_##x *lock, unsigned long *before,         \
		const char *file, int line);                                   \
	void klock_checked_##x##_unlock_shared_irqrestore_at(                  \
		struct klock_checked_##x *lock, unsigned long before,          \
		const char *file, int line)

#define KLOCK_CHECKED_READERS(x)                                               \
	KLOCK_CHECKED_READERS_WITHOUT_TRY(x);                                  \
	KLOCK_CHECKED_TRY(x)

#define KLOCK_CHECKED_READER(x)                                                \
	KLOCK_CHECKED_SHARED(x);                                               \
	void klock_checked_##x##_lock_shared_at(                               \
		struct klock_checked_##x *lock, unsigned cpu,                  \
		const char *file, int line);                                   \
	void klock_checked_##x##_unlock_shared_at(                             \
		struct klock_checked_##x *lock, unsigned cpu,                  \
		const char *file, int line);                                   \
	int klock_checked_##x##_try_lock_shared_at(                            \
		struct klock_checked_##x *lock, unsigned cpu,                  \
		const char *file, int line);                                   \
	unsigned long klock_checked_##x##_lock_shared_irqsave_at(              \
		struct klock_checked_##x *lock, unsigned (*cpu_id)(void),      \
		const char *file, int line);                                   \
	int klock_checked_##x##_try_lock_shared_irqsave_at(                    \
		struct klock_checked_##x *lock, unsigned (*cpu_id)(void),      \
		unsigned long *before, const char *file, int line);            \
	void klock_checked_##x##_unlock_shared_irqrestore_at(                  \
		struct klock_checked_##x *lock, unsigned (*cpu_id)(void),      \
		unsigned long before, const char *file, int line)

KLOCK_CHECKED_READERS(rw_ticket_u8);
KLOCK_CHECKED_READERS(rw_ticket_u16);
KLOCK_CHECKED_READERS(phase_fair_u8);
KLOCK_CHECKED_READERS(phase_fair_u16);
KLOCK_CHECKED_READERS_WITHOUT_TRY(phase_fair_u32);
KLOCK_CHECKED_READER(reader_8);
KLOCK_CHECKED_READER(reader_64);
KLOCK_CHECKED_READER(reader_256);

#ifdef __cplusplus
}
#endif

#include <klock/checked_readers_calls.h>
