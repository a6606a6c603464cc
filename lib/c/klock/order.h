/* SPDX-License-Identifier: MIT */
/*
 * order - deadlocks of several locks, named before they happen, for
 * klock/klock.h
 *
 * One line, in one file of a debug build, and all checked locks (checked.h)
 * that have a name are watched:
 *
 *	struct klock_lock_order *klock_os_lock_order(void)
 *	{
 *		return klock_lock_order_8();
 *	}
 *
 * What is found: klock/lock_order.hpp. A kernel without that function has none
 * of it, and the calls below do nothing.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Its memory: for 8 and 64 owners of locks and 64 names, for 256 and 128.
 * Owners are CPUs, or threads where the kernel has klock_os_owner_id().
 */
struct klock_lock_order;
struct klock_lock_order *klock_lock_order_8(void);
struct klock_lock_order *klock_lock_order_64(void);
struct klock_lock_order *klock_lock_order_256(void);

/* What the kernel may supply; klock/os.hpp says what each must do. */
#ifndef __cplusplus
struct klock_lock_order *klock_os_lock_order(void) __attribute__((weak));
void klock_os_note(const char *text) __attribute__((weak));
#endif

/* A panic if the caller has a lock: before it waits for what is no lock. */
#define klock_might_wait() klock_might_wait_at(__FILE__, __LINE__)
void klock_might_wait_at(const char *file, int line);

/* At the start: which lock is taken first, by two names, or by ranks from 1. */
#define klock_declare_before(first, second)                                    \
	klock_declare_before_at(first, second, __FILE__, __LINE__)
#define klock_declare_rank(name, rank)                                         \
	klock_declare_rank_at(name, rank, __FILE__, __LINE__)
void klock_declare_before_at(const char *first, const char *second,
			     const char *file, int line);
void klock_declare_rank_at(const char *name, unsigned rank, const char *file,
			   int line);

/*
 * Two checked locks of one name, as parent and child: from nest to unnest the
 * lock is of that sub-rank, 1 to 255, for what the caller takes. set_sub_rank:
 * of one that the caller holds, from now on (hand over hand).
 *
 *	struct klock_nested one_down;
 *
 *	klock_checked_nest(&one_down, &child->lock, 1);
 *	klock_lock(&child->lock);
 *	klock_checked_unnest(&one_down);
 */
struct klock_nested {
	void *klock_words[3];
};
#define klock_checked_nest(mine, lock, rank)                                   \
	klock_usage_nest(mine, &(lock)->klock_usage, rank)
#define klock_checked_unnest(mine) klock_usage_unnest(mine)
#define klock_checked_set_sub_rank(lock, rank)                                 \
	klock_usage_set_sub_rank(&(lock)->klock_usage, rank)
struct klock_usage;
void klock_usage_nest(struct klock_nested *mine,
		      const struct klock_usage *usage, unsigned rank);
void klock_usage_unnest(struct klock_nested *mine);
void klock_usage_set_sub_rank(const struct klock_usage *usage, unsigned rank);

/*
 * Who holds what and waits for what, a call of put(line, with) each. Any
 * context, an NMI handler's too: klock/print_held.hpp.
 */
void klock_print_held(void (*put)(const char *line, void *with), void *with);

#ifdef __cplusplus
}
#endif
