/* SPDX-License-Identifier: MIT */
/* A lock that is taken twice: named at once, where DEBUG_LOCKS is defined. */
#include <klock/klock.h>

#include <stdio.h>
#include <stdlib.h>

/* A header decides, in a kernel: all files must take a lock for one type. */
#ifdef DEBUG_LOCKS
typedef struct klock_checked_ticket_u8 spinlock;
#define spin_init(lock, name)                                                  \
	(klock_init(lock), klock_checked_set_name(lock, name))
#define assert_held(lock) klock_checked_assert_held(lock)
#else
typedef struct klock_ticket_u8 spinlock;
#define spin_init(lock, name) ((void)(name), klock_init(lock))
#define assert_held(lock) ((void)(lock))
#endif

/* The kernel's part of checked locks. */
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
