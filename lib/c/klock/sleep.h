/* SPDX-License-Identifier: MIT */
/*
 * sleep - locks and events for which threads sleep, for klock/klock.h
 *
 *	static struct klock_mutex files = KLOCK_MUTEX_INIT;
 *	static struct klock_semaphore jobs = KLOCK_SEMAPHORE_INIT(1);
 *	static struct klock_condition changed = KLOCK_CONDITION_INIT;
 *
 *	klock_acquire(&jobs);
 *	klock_lock(&files);
 *	while (!is_there)
 *		klock_wait_with(&changed, &files);
 *	klock_unlock(&files);
 *	klock_release(&jobs);			in a handler, too
 *
 * klock/mutex.hpp, shared_mutex.hpp, semaphore.hpp, completion.hpp,
 * condition.hpp and wait_queue.hpp say what each does. Zero bytes: free, not
 * set, no unit, nobody waits.
 *
 * Context: waits: threads, interrupts on, no spin lock held but the one that
 * klock_wait_with_irqsave() releases. Everything else: handlers, too. NMI:
 * none.
 */
#pragma once

#include <klock/ticket.h>
#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kernel supplies these; klock/os.hpp has their contract. */
#ifndef __cplusplus
__SIZE_TYPE__ klock_os_thread(void);
void klock_os_park(void);
_Bool klock_os_park_until(unsigned long long deadline);
void klock_os_unpark(__SIZE_TYPE__ thread);
/* Called if the library is built with CXXFLAGS=-I../unparked, or for a host. */
void klock_os_unparked(void);
#endif

/* clang-format off */
#define KLOCK_MUTEX_INIT {{0, 0}, 0, 0, 0}
#define KLOCK_SHARED_MUTEX_INIT {{0, 0}, 0, 0, 0}
/* units: at most 4294967294, also if more are given. */
#define KLOCK_SEMAPHORE_INIT(units) {{0, 0}, (units) + 0u - ((units) + 0u == ~0u), 0}
#define KLOCK_COMPLETION_INIT {{0, 0}, 0, 0}
#define KLOCK_CONDITION_INIT {{0, 0}, 0, 0}
#define KLOCK_WAIT_QUEUE_INIT {{0, 0}, 0}
/* clang-format on */

/* A mutex's flags. A port with another flag_word (klock/atomic.hpp) changes it
 * here; the library asserts it. */
#ifdef __riscv
#define KLOCK_FLAG_WORD unsigned int
#else
#define KLOCK_FLAG_WORD unsigned char
#endif

/* Each has 16 bytes, on 32 bits 8 or 12: a spin lock, a state, and the
 * waiters. */
#define KLOCK_SLEEPS(x, ...)                                                   \
	struct __attribute__((may_alias)) klock_##x {                          \
		struct klock_preemptable_ticket_u8 klock_inner;                \
		__VA_ARGS__                                                    \
		void *klock_queue;                                             \
	}

KLOCK_SLEEPS(mutex, unsigned char klock_told; KLOCK_FLAG_WORD klock_word;);
KLOCK_SLEEPS(shared_mutex, unsigned char klock_told; unsigned int klock_word;);
KLOCK_SLEEPS(semaphore, unsigned int klock_word;);
KLOCK_SLEEPS(completion, unsigned char klock_state;);
KLOCK_SLEEPS(condition, unsigned char klock_waited_for;);
KLOCK_SLEEPS(wait_queue, );

/* A waiter's node for a condition, on its stack; prepare initialises it. */
struct __attribute__((may_alias)) klock_sleeper {
	void *klock_words[4];
};

KLOCK_SLEEPING(KLOCK_DECLARE_KIND, )

enum klock_wait_result {
	klock_wait_had,
	klock_wait_deadline,
	klock_wait_killed,
	/* of inheriting.h alone */
	klock_wait_deadlock,
	klock_wait_too_deep
};

/*
 * Why a wait by a deadline ended, from what it returned; asked at once, and
 * decided by the clock, as klock::why_ended() is.
 *
 *	klock_why_ended(klock_try_lock_until(&files, deadline), deadline)
 */
__attribute__((warn_unused_result)) static inline enum klock_wait_result
klock_why_ended(int had, unsigned long long deadline)
{
	if (had)
		return klock_wait_had;
	return klock_cycles() < deadline ? klock_wait_killed
					 : klock_wait_deadline;
}

#ifdef __cplusplus
}
#endif
