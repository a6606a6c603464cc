/* SPDX-License-Identifier: MIT */
/* A lock that is taken twice: named at once, where DEBUG_LOCKS is defined. */
#include "spinlock.h"

#include <stdio.h>
#include <stdlib.h>

/* What the kernel supplies to checked locks. */
unsigned klock_os_cpu_id(void) { return 0; }
int klock_os_context(void) { return 0; }
void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned cpu, const char *what)
{
	(void)lock_address, (void)cpu;
	printf("lock %s: %s\n", lock_name, what);
	exit(1);
}

static spinlock inode_lock;

static void write_back(void)
{
	assert_held(&inode_lock);
	klock_lock(&inode_lock); /* the mistake */
	klock_unlock(&inode_lock);
}

int main(void)
{
	spin_init(&inode_lock, "inode");
	klock_lock(&inode_lock);
	write_back();
	klock_unlock(&inode_lock);
	return 0;
}
