/* SPDX-License-Identifier: MIT */
/*
 * What a kernel does with its spinlock, whatever kind it is: here by threads.
 */
#include "spinlock.h"

#include <pthread.h>
#include <stdio.h>

enum { threads = 4, visits_each = 10000 };

static spinlock lock;
static long visits; /* under the lock */

static void *visit(void *unused)
{
	for (int i = 0; i < visits_each; i++) {
		unsigned long flags = spin_lock_irqsave(&lock);

		visits++;
		spin_unlock_irqrestore(&lock, flags);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[threads];

	spin_init(&lock);
	if (!spin_trylock(&lock) || spin_trylock(&lock))
		return 1;
	spin_unlock(&lock);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, visit, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%zu bytes: %ld visits of %d\n", sizeof(lock), visits,
	       threads * visits_each);
	return visits != threads * visits_each;
}
