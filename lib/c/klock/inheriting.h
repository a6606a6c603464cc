/* SPDX-License-Identifier: MIT */
/*
 * inheriting - a mutex whose owner runs with its waiters' priority, for
 * klock/klock.h
 *
 *	static struct klock_inheriting_mutex bus = KLOCK_INHERITING_MUTEX_INIT;
 *
 *	klock_lock(&bus);
 *	...
 *	klock_unlock(&bus);
 *	if (klock_lock_until(&bus, deadline) == klock_wait_killed)
 *		return -EINTR;
 *
 * What it does, and when to take it: klock/inheriting_mutex.hpp. Zero bytes are
 * a free mutex, and a thread of priority 0. All are in one domain. Threads
 * alone take them.
 */
#pragma once

#include <klock/sleep.h>
#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_INHERITING_MUTEX_INIT {0, 0, 0}
#define KLOCK_INHERITING_THREAD_INIT(priority) {(priority), (priority), 0, 0, 0, 0}
/* clang-format on */

/* 24 bytes, on 32 bits 12 */
struct __attribute__((may_alias)) klock_inheriting_mutex {
	__SIZE_TYPE__ klock_word;
	void *klock_queue;
	void *klock_next_wanted;
};

/* A kernel keeps one for each thread: 40 bytes, on 32 bits 24. */
struct __attribute__((may_alias)) klock_inheriting_thread {
	unsigned int klock_base;
	unsigned int klock_lent;
	void *klock_waits;
	void *klock_wanted;
	const void *klock_domain;
	unsigned char klock_ended;
};

/* The kernel supplies these, those of sleep.h, klock_os_cpu_id() and
 * klock_os_panic(); klock/os.hpp has their contracts. */
#ifndef __cplusplus
struct klock_inheriting_thread *klock_os_inheriting_thread(void);
void klock_os_run_with_priority(struct klock_inheriting_thread *thread,
				unsigned priority);
#endif

/*
 *	thread_init	makes a thread that holds nothing, whatever its memory
 *			held
 *	priority_changed	sets its own priority; the thread may wait, and
 *			a handler may call it
 *	thread_ends	for a thread that has not released what it held:
 *			holds(mutex, with) is called for each mutex that others
 *			wait for; holds: null: it is not called. hands_over: not
 *			0: the first waiters get the mutexes, and learn it by
 *			klock_owner_died(). holds() uses no such mutex and calls
 *			none of these: it would wait for its own caller
 */
void klock_inheriting_thread_init(struct klock_inheriting_thread *thread,
				  unsigned priority);
void klock_priority_changed(struct klock_inheriting_thread *thread,
			    unsigned priority);
void klock_inheriting_thread_ends(struct klock_inheriting_thread *thread,
				  int hands_over,
				  void (*holds)(const void *mutex, void *with),
				  void *with);

KLOCK_INHERITINGS(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
