/* SPDX-License-Identifier: MIT */
/*
 * channels - xv6's sleep(), wakeup() and kill() over klock's conditions
 */
#pragma once

#include <klock/klock.h>

struct spinlock {
	struct klock_ticket_u8 inner; /* zero bytes: free */
};

void acquire(struct spinlock *lk);
void release(struct spinlock *lk);

/* For a channel, an address. held: released meanwhile. The caller looks again:
 * others share the channel. 0: kill_thread() has ended it, and no wakeup(). */
int sleep_for(const void *channel, struct spinlock *held);
void wakeup(const void *channel);

/* A thread of the kernel's. */
struct thread {
	int permit; /* klock's; under the scheduler's lock, as the rest */
	int sleeping;
	int killed;
	int wait_ends; /* killed since its last wait with a deadline */
};

void kill_thread(struct thread *one);

/* The scheduler's. switch_away() returns after make_runnable(). */
struct thread *current(void);
void lock_scheduler(void);
void unlock_scheduler(void);
void switch_away(void);
void make_runnable(struct thread *one);
