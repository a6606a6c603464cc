/* SPDX-License-Identifier: MIT */
/*
 * seq - data that readers read without writing anything, what is done once, and
 * CPUs that meet, for klock/klock.h
 *
 *	static struct klock_seq_count clock_seq = KLOCK_SEQ_COUNT_INIT;
 *	static struct moment clock;		touched by these functions alone
 *
 *	klock_seq_count_write(&clock_seq, &clock, &now, sizeof(clock));
 *	klock_seq_count_read(&clock_seq, &now, &clock, sizeof(clock));
 *
 * One writer at a time, by a lock of its own; any number of readers.
 * klock/seq_count.hpp says what they do, and why no other access to the data is
 * allowed.
 *
 * Context: readers: any, but a handler or an NMI that may have interrupted a
 * writer on its CPU must use try_read. Writers: interrupts off if a handler
 * reads. There is no checked form, as 4 bytes have no room for the writer's
 * number; the writers' lock has one.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_SEQ_COUNT_INIT {0}
/* clang-format on */

/* seq_count: 4 bytes; zero bytes: nothing was written yet */
struct __attribute__((may_alias)) klock_seq_count {
	unsigned int klock_sequence;
};

void klock_seq_count_init(struct klock_seq_count *count);

/*
 * Copy all of the data, word by word if they are whole, aligned words.
 *
 *	write		the data are as *from
 *	read		*into is as the last whole write; waits for the writer
 *	try_read	1 and *into, or 0 while a writer is inside; never waits
 */
void klock_seq_count_write(struct klock_seq_count *count, void *data,
			   const void *from, unsigned long bytes);
void klock_seq_count_read(const struct klock_seq_count *count, void *into,
			  const void *data, unsigned long bytes);
int klock_seq_count_try_read(const struct klock_seq_count *count, void *into,
			     const void *data, unsigned long bytes);

/*
 * For data that are atomics of the kernel's own, relaxed: a writer surrounds
 * its stores by begin and end; a reader reads again while retry says 1.
 */
void klock_seq_count_write_begin(struct klock_seq_count *count);
void klock_seq_count_write_end(struct klock_seq_count *count);
unsigned int klock_seq_count_read_begin(const struct klock_seq_count *count);
int klock_seq_count_read_try_begin(const struct klock_seq_count *count,
				   unsigned int *began);
int klock_seq_count_read_retry(const struct klock_seq_count *count,
			       unsigned int began);

/* Whether a writer is inside: a hint. */
int klock_seq_count_is_written(const struct klock_seq_count *count);

/*
 * -- Once: the first caller runs a function; barrier: CPUs wait for each other
 * --
 *
 *	static struct klock_once tables = KLOCK_ONCE_INIT;
 *
 *	klock_once_call(&tables, make_tables, 0);	everywhere, before use
 *
 *	static struct klock_barrier all_are_up = KLOCK_BARRIER_INIT;
 *
 *	klock_barrier_wait(&all_are_up, cpus);		on each of them
 *
 * klock_once_call() calls klock_os_cpu_id(). In every build it panics by
 * klock_os_panic() if a CPU calls it while it runs the function, from a handler
 * or from the function itself; so there is no checked form. klock/once.hpp,
 * klock/barrier.hpp.
 */
/* clang-format off */
#define KLOCK_ONCE_INIT {0}
#define KLOCK_BARRIER_INIT {0, 0}
/* clang-format on */

/* once: a word, 8 bytes, on 32 bits 4; zero bytes: not done yet */
struct __attribute__((may_alias)) klock_once {
	unsigned long klock_state;
};

/* spin_barrier: 8 bytes; zero bytes: none has arrived */
struct __attribute__((may_alias)) klock_barrier {
	unsigned int klock_arrived;
	unsigned int klock_generation;
};

void klock_once_init(struct klock_once *once);

/*
 * Runs what(with) unless it is done; waits while another caller runs it. 1: it
 * is done. 0: what() returned 0 in this call: it has failed, and the next
 * caller tries again.
 */
int klock_once_call(struct klock_once *once, int (*what)(void *with),
		    void *with);

/* Whether it is done, and all that it wrote can be seen. Any context. */
int klock_once_is_done(const struct klock_once *once);

void klock_barrier_init(struct klock_barrier *barrier);

/*
 * Waits until `expected` CPUs have arrived, including the caller: all pass the
 * same number. Returns 1 to the last of them, 0 to the others.
 */
int klock_barrier_wait(struct klock_barrier *barrier, unsigned int expected);

#ifdef __cplusplus
}
#endif
