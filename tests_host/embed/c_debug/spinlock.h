/* SPDX-License-Identifier: MIT */
/*
 * spinlock - a kernel's lock, which is checked in its debug builds
 *
 * One header decides: all files must take a lock for the same type.
 */
#pragma once

#include <klock/klock.h>

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
