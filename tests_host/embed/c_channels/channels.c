/* SPDX-License-Identifier: MIT */
#include "channels.h"

static struct klock_condition channels[8];

static struct klock_condition *condition_of(const void *channel)
{
	return &channels[(__UINTPTR_TYPE__)channel / 64 % 8];
}

void acquire(struct spinlock *lk) { klock_lock(&lk->inner); }
void release(struct spinlock *lk) { klock_unlock(&lk->inner); }

int sleep_for(const void *channel, struct spinlock *held)
{
	const unsigned long long never = ~0ull;
	struct klock_condition *changed = condition_of(channel);
	struct klock_sleeper me;
	int told;

	klock_prepare(changed, &me);
	release(held);
	told = klock_sleep(changed, &me, &never);
	acquire(held);
	return told;
}

void wakeup(const void *channel) { klock_notify_all(condition_of(channel)); }

/* may_end: kill_thread() ends it, whether it comes before the wait or in it. */
static int park(int may_end)
{
	struct thread *me = current();
	int ends;

	lock_scheduler();
	if (!me->permit && !(may_end && me->wait_ends)) {
		me->sleeping = 1;
		switch_away();
		me->sleeping = 0;
	}
	me->permit = 0;
	ends = may_end && me->wait_ends;
	if (may_end)
		me->wait_ends = 0;
	unlock_scheduler();
	return !ends;
}

void klock_os_park(void) { park(0); }

/* Nobody waits for a time here. */
_Bool klock_os_park_until(unsigned long long deadline)
{
	(void)deadline;
	return park(1);
}

void klock_os_unpark(__SIZE_TYPE__ handle)
{
	struct thread *one = (struct thread *)handle;

	lock_scheduler();
	one->permit = 1;
	if (one->sleeping)
		make_runnable(one);
	unlock_scheduler();
}

__SIZE_TYPE__ klock_os_thread(void) { return (__SIZE_TYPE__)current(); }

void kill_thread(struct thread *one)
{
	lock_scheduler();
	one->killed = 1;
	one->wait_ends = 1;
	if (one->sleeping)
		make_runnable(one);
	unlock_scheduler();
}
