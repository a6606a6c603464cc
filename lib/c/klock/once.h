/* SPDX-License-Identifier: MIT */
/*
 * once - what the first who needs it does, and CPUs that meet, for
 * klock/klock.h
 *
 *	static struct klock_once tables = KLOCK_ONCE_INIT;
 *
 *	klock_once_call(&tables, make_tables, 0);	everywhere, before use
 *
 *	static struct klock_barrier all_are_up = KLOCK_BARRIER_INIT;
 *
 *	klock_barrier_wait(&all_are_up, cpus);		on each of them
 *
 * klock_once_call() asks the kernel for klock_os_cpu_id(), and panics by
 * klock_os_panic() where a CPU calls what it is in the middle of, from a
 * handler or from the function itself, in every build: there is no checked form
 * besides. klock/once.hpp, klock/barrier.hpp.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_ONCE_INIT {0}
#define KLOCK_BARRIER_INIT {0, 0}
/* clang-format on */

/* once: 4 bytes; zero bytes: not done yet */
struct __attribute__((may_alias)) klock_once {
	unsigned int klock_state;
};

/* spin_barrier: 8 bytes; zero bytes: none has arrived */
struct __attribute__((may_alias)) klock_barrier {
	unsigned int klock_arrived;
	unsigned int klock_generation;
};

void klock_once_init(struct klock_once *once);

/*
 * Runs what(with) unless it is done; waits while another CPU runs one. 1: it is
 * done. 0: what() returned 0, here and now: it has failed, and the next tries
 * again.
 */
int klock_once_call(struct klock_once *once, int (*what)(void *with),
		    void *with);

/* Whether it is done, and all that it wrote can be seen. Any context. */
int klock_once_is_done(const struct klock_once *once);

void klock_barrier_init(struct klock_barrier *barrier);

/*
 * Waits until `expected` have arrived, the caller among them: all pass the same
 * number. 1 for one of them, the last; 0 for the others.
 */
int klock_barrier_wait(struct klock_barrier *barrier, unsigned int expected);

#ifdef __cplusplus
}
#endif
