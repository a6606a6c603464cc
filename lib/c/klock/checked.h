/* SPDX-License-Identifier: MIT */
/*
 * checked - locks that report each misuse instead of a hang, for klock/klock.h
 *
 *	static struct klock_checked_ticket_u8 lock =
 *		KLOCK_CHECKED_INIT("runqueue", KLOCK_TICKET_INIT);
 *
 *	klock_lock(&lock);
 *
 * For debug builds: as klock_ticket_u8, with the same arguments, and a name.
 * klock/checked_lock.hpp lists the misuse that is found, and the cost. For
 * readers: lock_shared by a reader, if reads do not nest; lock by a reader;
 * unlock_shared by a caller that does not read; more readers than the capacity.
 *
 * klock_lock() passes the caller's file and line to the function of that name
 * with _at: klock_checked_ticket_u8_lock_at(). A function without it,
 * klock_checked_ticket_u8_lock(), notes the code address that called it.
 *
 * Zero bytes are a lock without a name, if zero bytes are a free lock inside.
 * All files of a kernel must take a lock for the same type: decide it in one
 * header of your own.
 */
#pragma once

#include <klock/bakery.h>
#include <klock/inheriting.h>
#include <klock/queue.h>
#include <klock/readers.h>
#include <klock/recursive.h>
#include <klock/sleep.h>
#include <klock/tas.h>
#include <klock/ticket.h>
#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The kernel supplies these; klock/os.hpp has their contracts. A kernel that
 * moves threads which hold spin locks defines klock_os_owner_id() as well.
 */
#ifndef __cplusplus
unsigned klock_os_cpu_id(void);
int klock_os_context(void); /* 0: thread, 1: interrupt handler, 2: NMI */
unsigned long klock_os_owner_id(void) __attribute__((weak));
void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned cpu, const char *what) __attribute__((noreturn));
#endif

/* After the first panic the checks are off: klock/os.hpp. A test whose
 * klock_os_panic() leaves by longjmp() turns them on again before: 1. */
void klock_set_checks(int on);

/* The state of a lock's checks. */
struct __attribute__((may_alias)) klock_usage {
	const char *klock_name;
	/* The rest of the C++ lock_usage. */
	void *klock_noted[sizeof(void *) == 8 ? 11 : 16];
};

/* name: a text that lives as long as the lock; then the lock's KLOCK_..._INIT.
 */
/* clang-format off */
#define KLOCK_CHECKED_INIT(name, ...) \
	{.klock_usage = {(name), {0}}, .klock_inner = __VA_ARGS__}
/* clang-format on */

/*
 * -- Verbs of every checked lock; lock: its address --
 *
 *	set_name	before others use it; the text must live as long
 *	set_element	the same for one of an array: "bucket[3]"
 *	is_held_by_me	exact: nobody else can change that
 *	assert_held	a panic where the caller does not hold it
 */
#define klock_checked_set_name(lock, name)                                     \
	klock_usage_set_name(&(lock)->klock_usage, name)
#define klock_checked_set_element(lock, name, index)                           \
	klock_usage_set_element(&(lock)->klock_usage, name, index)
#define klock_checked_is_held_by_me(lock)                                      \
	klock_usage_is_held_by_me(&(lock)->klock_usage)
#define klock_checked_assert_held(lock)                                        \
	klock_usage_assert_held(&(lock)->klock_usage, KLOCK_HERE)

void klock_usage_set_name(struct klock_usage *usage, const char *name);
void klock_usage_set_element(struct klock_usage *usage, const char *name,
			     unsigned index);
int klock_usage_is_held_by_me(const struct klock_usage *usage);
void klock_usage_assert_held(const struct klock_usage *usage, const char *file,
			     int line);

/* The notes about a lock's readers. */
struct __attribute__((may_alias)) klock_shared_usage {
	/* The C++ shared_usage. */
	unsigned int klock_counts[2];
	void *klock_in[8];
	unsigned int klock_as[8];
	const char *klock_read_file;
	unsigned int klock_read_line[2];
};

/* -- Each lock, by the verbs that it has unchecked -- */

#define KLOCK_CHECKED(shape, x, v)                                             \
	struct __attribute__((may_alias)) klock_checked_##x {                  \
		struct klock_usage klock_usage;                                \
		struct klock_##x klock_inner;                                  \
	};                                                                     \
	KLOCK_SHAPE_##shape(KLOCK_DECLARE_AT, KLOCK_DECLARE, checked_##x)
#define KLOCK_CHECKED_READERS(shape, x, v)                                     \
	struct __attribute__((may_alias)) klock_checked_##x {                  \
		struct klock_usage klock_usage;                                \
		struct klock_shared_usage klock_shared;                        \
		struct klock_##x klock_inner;                                  \
	};                                                                     \
	KLOCK_SHAPE_##shape(KLOCK_DECLARE_AT, KLOCK_DECLARE, checked_##x)
/* Nobody holds it. */
#define KLOCK_CHECKED_AWAITED(shape, x, v)                                     \
	struct __attribute__((may_alias)) klock_checked_##x {                  \
		struct klock_##x klock_inner;                                  \
		struct klock_usage klock_usage;                                \
	};                                                                     \
	KLOCK_SHAPE_##shape(KLOCK_DECLARE_AT, KLOCK_DECLARE, checked_##x)

KLOCK_ALL_BUT_READERS(KLOCK_CHECKED, )
KLOCK_READERS(KLOCK_CHECKED_READERS, )
KLOCK_MUTEXES(KLOCK_CHECKED, )
KLOCK_INHERITINGS(KLOCK_CHECKED, )
KLOCK_SHARED_MUTEXES(KLOCK_CHECKED_READERS, )
KLOCK_AWAITED(KLOCK_CHECKED_AWAITED, )

#ifdef __cplusplus
}
#endif
