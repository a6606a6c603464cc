/* SPDX-License-Identifier: MIT */
/*
 * spinlock - a kernel's lock, which is checked in its debug builds
 *
 * One header decides: all files must take a lock for the same type.
 */
#pragma once

#include <klock/klock.h>

/* clang-format off */
#ifdef DEBUG_LOCKS
struct spinlock {
	struct klock_checked_ticket_u8 ticket;
};
#define spin_init(lock, name)                                                  \
	(klock_checked_ticket_u8_init(&(lock)->ticket),                        \
	 klock_checked_set_name(&(lock)->ticket, name))
#define spin_lock(lock) klock_checked_ticket_u8_lock(&(lock)->ticket)
#define spin_unlock(lock) klock_checked_ticket_u8_unlock(&(lock)->ticket)
#define assert_held(lock) klock_checked_assert_held(&(lock)->ticket)
#else
struct spinlock {
	struct klock_ticket_u8 ticket;
};
#define spin_init(lock, name)                                                  \
	((void)(name), klock_ticket_u8_init(&(lock)->ticket))
#define spin_lock(lock) klock_ticket_u8_lock(&(lock)->ticket)
#define spin_unlock(lock) klock_ticket_u8_unlock(&(lock)->ticket)
#define assert_held(lock) ((void)(lock))
#endif
/* clang-format on */
