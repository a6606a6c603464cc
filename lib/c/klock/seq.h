/* SPDX-License-Identifier: MIT */
/*
 * seq - data that readers read without writing anything, for klock/klock.h
 *
 *	static struct klock_seq_count clock_seq = KLOCK_SEQ_COUNT_INIT;
 *	static struct moment clock;		touched by these functions alone
 *
 *	klock_seq_count_write(&clock_seq, &clock, &now, sizeof(clock));
 *	klock_seq_count_read(&clock_seq, &now, &clock, sizeof(clock));
 *
 * One writer at a time, by a lock of its own; any number of readers. What they
 * do, and why no other access to the data is allowed: klock/seq_count.hpp.
 *
 * Context: readers: any, but in a handler or an NMI over its own CPU's writer
 * only try_read. Writers: interrupts off where a handler reads. There is no
 * checked form: 4 bytes have no room for who writes; the writers' lock has one.
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
 * Whole copies, word by word where the data are whole, aligned words.
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

#ifdef __cplusplus
}
#endif
