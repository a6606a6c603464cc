/* SPDX-License-Identifier: MIT */
/*
 * counted - locks that count and time the waits for them, for klock/klock.h
 *
 *	static struct klock_counted_ticket_u8 lock =
 *		KLOCK_COUNTED_INIT("runqueue", KLOCK_TICKET_INIT);
 *
 *	klock_lock(&lock);
 *	...
 *	klock_print_counts(print_line, 0);
 *
 * As klock_ticket_u8, with the same arguments, and a name: the locks that a
 * kernel takes most. What is counted, and what it costs:
 * klock/counted_lock.hpp; the table: klock/print_counts.hpp. Readers have a
 * line of their own.
 *
 * Zero bytes are a free lock without a name. A lock that was ever waited for is
 * in a list: before its memory is used for anything else,
 * klock_X_forget_counts().
 */
#pragma once

#include <klock/queue.h>
#include <klock/readers.h>
#include <klock/tas.h>
#include <klock/ticket.h>
#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counts of a lock: the C++ lock_counts and wait_counts; and of its
 * readers, shared_counts. */
struct __attribute__((may_alias)) klock_counts {
	void *klock_acquired[2];
	const char *klock_name;
	void *klock_rest[sizeof(void *) == 8 ? 4 : 6];
};
struct __attribute__((may_alias)) klock_shared_counts {
	struct klock_counts klock_counts;
	void *klock_more[sizeof(void *) == 8 ? 2 : 3];
};
struct __attribute__((may_alias)) klock_waits {
	unsigned char klock_bytes[klock_cache_line]
		__attribute__((aligned(klock_cache_line)));
};
struct __attribute__((may_alias)) klock_readers_counts {
	struct klock_shared_counts klock_counts;
	struct klock_waits klock_waits;
};

/* name: a text that lives as long as the lock; then the lock's KLOCK_..._INIT.
 */
/* clang-format off */
#define KLOCK_COUNTED_INIT(name, ...) \
	{.klock_inner = __VA_ARGS__, .klock_counts = {{0, 0}, (name), {0}}}
/* clang-format on */

/*
 *	set_name	before others use it; the text must live as long
 *	set_element	the same for one of an array: "bucket[3]"
 *	list_counts	into the table, though nobody has waited for it yet
 *	forget_counts	out of it
 */
#define KLOCK_COUNTED_VERBS(x)                                                 \
	void klock_counted_##x##_set_name(struct klock_counted_##x *lock,      \
					  const char *name);                   \
	void klock_counted_##x##_set_element(struct klock_counted_##x *lock,   \
					     const char *name,                 \
					     unsigned index);                  \
	void klock_counted_##x##_list_counts(struct klock_counted_##x *lock);  \
	void klock_counted_##x##_forget_counts(struct klock_counted_##x *lock)

#define KLOCK_COUNTED(shape, x, v)                                             \
	struct __attribute__((may_alias)) klock_counted_##x {                  \
		struct klock_##x klock_inner;                                  \
		struct klock_counts klock_counts;                              \
		struct klock_waits klock_waits;                                \
	};                                                                     \
	KLOCK_COUNTED_VERBS(x);                                                \
	KLOCK_SHAPE_##shape(KLOCK_DECLARE_PLAIN, KLOCK_DECLARE, counted_##x)

/* A counted lock that readers share. */
#define KLOCK_COUNTED_SHARED(shape, x, v)                                      \
	struct __attribute__((may_alias)) klock_counted_##x {                  \
		struct klock_##x klock_inner;                                  \
		void *klock_reads;                                             \
		struct klock_counts klock_counts;                              \
		struct klock_readers_counts klock_readers;                     \
		struct klock_waits klock_waits;                                \
	};                                                                     \
	KLOCK_COUNTED_VERBS(x);                                                \
	KLOCK_SHAPE_##shape(KLOCK_DECLARE_PLAIN, KLOCK_DECLARE, counted_##x)

KLOCK_COUNTED_ALONE(KLOCK_COUNTED, )
KLOCK_COUNTED_READERS(KLOCK_COUNTED_SHARED, )

/*
 * Print the table, the worst lock first, by a call of put(line, with) for each
 * line; and reset all figures. Any context but an NMI handler's.
 */
void klock_print_counts(void (*put)(const char *line, void *with), void *with);
void klock_reset_counts(void);

#ifdef __cplusplus
}
#endif
