/* SPDX-License-Identifier: MIT */
/*
 * A kernel's use of its spinlock, whatever kind it is: here by threads.
 */
#include <klock/klock.h>

#include <pthread.h>
#include <stdio.h>

enum { threads = 4, visits_each = 10000 };

/* The kernel's lock: any kind that is taken by its address alone. */
typedef struct klock_ticket_u16 spinlock;

static spinlock lock;
static long visits; /* under the lock */

static void *visit(void *unused)
{
	for (int i = 0; i < visits_each; i++) {
		unsigned long flags = klock_lock_irqsave(&lock);

		visits++;
		klock_unlock_irqrestore(&lock, flags);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[threads];

	klock_init(&lock);
	if (!klock_try_lock(&lock) || klock_try_lock(&lock))
		return 1;
	klock_unlock(&lock);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, visit, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%zu bytes: %ld visits of %d\n", sizeof(lock), visits,
	       threads * visits_each);
	return visits != threads * visits_each;
}
