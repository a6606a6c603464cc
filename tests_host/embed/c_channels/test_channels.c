/* SPDX-License-Identifier: MIT */
/*
 * One thread gives numbers to another by sleep_for() and wakeup(), and a third
 * waits for what nobody brings until it is killed: before its wait, and in it.
 */
#define _XOPEN_SOURCE 700
#include "channels.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	numbers = 2000,
	kills = 200,
	patience = 60, /* s, until a test that hangs is ended */
};

static pthread_mutex_t scheduler = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t anybody = PTHREAD_COND_INITIALIZER;
static _Thread_local struct thread self;
static _Thread_local int is_to_be_killed;
/* Under the scheduler's lock. */
static unsigned long switches;
static struct thread *in_its_wait; /* of those that are to be killed */

struct thread *current(void) { return &self; }
void lock_scheduler(void) { pthread_mutex_lock(&scheduler); }
void unlock_scheduler(void) { pthread_mutex_unlock(&scheduler); }
void make_runnable(struct thread *one)
{
	one->sleeping = 0;
	pthread_cond_broadcast(&anybody);
}
void switch_away(void)
{
	switches++;
	if (is_to_be_killed)
		in_its_wait = &self;
	while (self.sleeping)
		pthread_cond_wait(&anybody, &scheduler);
}

static void expect(int holds, const char *otherwise)
{
	if (!holds) {
		puts(otherwise);
		exit(1);
	}
}

static struct {
	struct spinlock lock;
	int number; /* 0: none */
	int silent; /* what nobody brings */
	struct thread *waits;
} box;

static void *give(void *nothing)
{
	for (int i = 1; i <= numbers; i++) {
		acquire(&box.lock);
		while (box.number)
			sleep_for(&box.number, &box.lock);
		box.number = i;
		wakeup(&box.number);
		release(&box.lock);
	}
	return nothing;
}

static void *take(void *nothing)
{
	for (int i = 1; i <= numbers; i++) {
		acquire(&box.lock);
		while (!box.number)
			sleep_for(&box.number, &box.lock);
		expect(box.number == i, "a number is lost");
		box.number = 0;
		wakeup(&box.number);
		release(&box.lock);
	}
	return nothing;
}

static int look_for_kill(void)
{
	int killed;

	lock_scheduler();
	killed = self.killed;
	unlock_scheduler();
	return killed;
}

/* It has given its CPU away. */
static void until_in_its_wait(struct thread *one)
{
	int is_there = 0;

	while (!is_there) {
		lock_scheduler();
		is_there = in_its_wait == one;
		unlock_scheduler();
		sched_yield();
	}
	lock_scheduler();
	in_its_wait = NULL;
	unlock_scheduler();
}

static void *wait_for_kill(void *before)
{
	is_to_be_killed = !before;
	if (before)
		kill_thread(current());
	acquire(&box.lock);
	box.waits = current();
	wakeup(&box.waits);
	while (!box.silent) {
		/* A kill may come between this look and the wait. */
		int killed = look_for_kill() && !before;

		before = NULL;
		if (killed)
			break;
		sleep_for(&box.silent, &box.lock);
	}
	box.waits = NULL;
	wakeup(&box.waits);
	release(&box.lock);
	return NULL;
}

int main(void)
{
	pthread_t one, another;

	alarm(patience);
	pthread_create(&one, NULL, give, NULL);
	pthread_create(&another, NULL, take, NULL);
	for (int i = 0; i < kills; i++) {
		pthread_t waits;

		pthread_create(&waits, NULL, wait_for_kill,
			       i % 2 ? &box : NULL);
		acquire(&box.lock);
		while (i % 2 == 0 && !box.waits)
			sleep_for(&box.waits, &box.lock);
		if (i % 2 == 0) {
			struct thread *const one = box.waits;

			release(&box.lock);
			until_in_its_wait(one);
			acquire(&box.lock);
		}
		if (box.waits)
			kill_thread(box.waits);
		release(&box.lock);
		pthread_join(waits, NULL);
	}
	pthread_join(one, NULL);
	pthread_join(another, NULL);
	expect(switches >= kills / 2, "nobody slept");
	printf("%d numbers, %d kills: none is lost\n", numbers, kills);
}
