/* SPDX-License-Identifier: MIT */
/*
 * order - reports deadlocks of several locks before they happen, for
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
 * klock/lock_order.hpp lists the findings. In a kernel without that function
 * nothing is checked, and the calls below do nothing.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Return the order's memory: for 8 or 64 owners of locks and 64 names, or for
 * 256 and 128. Owners are CPUs, and threads that hold locks whose waiters
 * sleep; or threads only, if the kernel has klock_os_owner_id(). _noted:
 * findings about the order go to klock_os_note(), each once, and the kernel
 * goes on.
 */
struct klock_lock_order;
struct klock_lock_order *klock_lock_order_8(void);
struct klock_lock_order *klock_lock_order_8_noted(void);
struct klock_lock_order *klock_lock_order_64_noted(void);
struct klock_lock_order *klock_lock_order_64(void);
struct klock_lock_order *klock_lock_order_256(void);

/* Whether a klock_os_lock_order() was linked in. One in a file of its own in a
 * static library is not. */
int klock_order_is_checked(void);

/* The kernel may supply these; klock/os.hpp has their contracts. */
#ifndef __cplusplus
struct klock_lock_order *klock_os_lock_order(void) __attribute__((weak));
void klock_os_note(const char *text) __attribute__((weak));
#endif

/* Called before a wait for something other than a lock: panics in a handler,
 * with interrupts off, or if the caller holds a spin lock. */
#define klock_might_wait() klock_might_wait_at(__FILE__, __LINE__)
void klock_might_wait_at(const char *file, int line);

/* Called where a scheduler switches threads: panics if the caller holds a spin
 * lock. */
#define klock_might_switch() klock_might_switch_at(__FILE__, __LINE__)
void klock_might_switch_at(const char *file, int line);

/* Called by a thread that ends: panics if it holds a lock. */
#define klock_thread_ends() klock_thread_ends_at(__FILE__, __LINE__)
void klock_thread_ends_at(const char *file, int line);

/*
 * Makes the caller the owner of a checked lock that another owner took, if
 * owners are threads: for the scheduler's lock, after a switch
 * (klock/order_calls.hpp).
 */
/* clang-format off */
#define klock_checked_handed_over(lock) \
	__extension__({ \
		KLOCK_REFUSE(KLOCK_RECURSIVES, lock, \
			     "a recursive lock is not handed over: its owner alone releases it") \
		KLOCK_REFUSE(KLOCK_INHERITINGS, lock, \
			     "an inheriting mutex is not handed over: its owner alone releases it") \
		KLOCK_REFUSE(KLOCK_AWAITED, lock, \
			     "nobody holds it, so it is not handed over") \
		klock_usage_handed_over(&(lock)->klock_usage, __FILE__, __LINE__); \
	})
/* clang-format on */
struct klock_usage;
void klock_usage_handed_over(struct klock_usage *usage, const char *file,
			     int line);

/*
 * klock_might_wait() before a wait that releases this checked lock, which the
 * caller holds, as a condition's wait does.
 */
#define klock_checked_might_wait_with(lock)                                    \
	klock_usage_might_wait_with(&(lock)->klock_usage, __FILE__, __LINE__)
void klock_usage_might_wait_with(const struct klock_usage *usage,
				 const char *file, int line);

/* Called before memory is freed: panics if a checked lock in it is held, or
 * waited for. */
#define klock_none_held_in(from, bytes)                                        \
	klock_none_held_in_at(from, bytes, __FILE__, __LINE__)
void klock_none_held_in_at(const void *from, unsigned long bytes,
			   const char *file, int line);

/*
 * Report that a lock of the kernel's own, whose waiters sleep, was taken, and
 * is about to be released. Its class is a name, and a sub-rank, or 0. Called by
 * the thread that has it, with no spinning lock held.
 */
#define klock_acquired(lock, name, sub_rank)                                   \
	klock_acquired_at(lock, name, sub_rank, __FILE__, __LINE__)
void klock_acquired_at(const void *lock, const char *name, unsigned sub_rank,
		       const char *file, int line);
#define klock_released(lock) klock_released_at(lock, __FILE__, __LINE__)
void klock_released_at(const void *lock, const char *file, int line);

/* Called at the start: declare which lock is taken first, by two names, or by
 * ranks from 1. */
#define klock_declare_before(first, second)                                    \
	klock_declare_before_at(first, second, __FILE__, __LINE__)
#define klock_declare_rank(name, rank)                                         \
	klock_declare_rank_at(name, rank, __FILE__, __LINE__)
void klock_declare_before_at(const char *first, const char *second,
			     const char *file, int line);
/* Declares that `first` then `second` makes no cycle, as something else
 * excludes it. */
void klock_declare_harmless(const char *first, const char *second);
void klock_declare_rank_at(const char *name, unsigned rank, const char *file,
			   int line);

/*
 * For two checked locks of one name, parent and child: from nest to unnest, the
 * caller's acquisitions of the lock have that sub-rank, 1 to 255. If the locks'
 * waiters sleep, only in a kernel with klock_os_owner_id(). set_sub_rank
 * changes that of a lock that the caller holds (hand over hand).
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
void klock_usage_nest(struct klock_nested *mine,
		      const struct klock_usage *usage, unsigned rank);
void klock_usage_unnest(struct klock_nested *mine);
void klock_usage_set_sub_rank(const struct klock_usage *usage, unsigned rank);

/*
 * put(line, with) is called for each lock that is held or waited for. Any
 * context, an NMI handler's too: klock/print_held.hpp.
 */
void klock_print_held(void (*put)(const char *line, void *with), void *with);

/*
 * Called from a timer's handler: reports waits that are older than that many
 * thousands of the port's cycles to klock_os_note(), each once; returns how
 * many there were.
 */
unsigned klock_note_long_waits(unsigned kcycles);

/*
 * Called at a handler's entry and its return: panics if it returns with a
 * checked lock held that it has taken. now: the CPU's context, which
 * klock_os_context() returns; entered: 1, an interrupt; 2, an NMI.
 */
struct klock_handler {
	unsigned char *klock_now;
	unsigned klock_before;
	unsigned klock_places;
};
void klock_handler_begin(struct klock_handler *mine, unsigned char *now,
			 int entered);
#define klock_handler_end(mine) klock_handler_end_at(mine, __FILE__, __LINE__)
void klock_handler_end_at(struct klock_handler *mine, const char *file,
			  int line);

#ifdef __cplusplus
}
#endif
