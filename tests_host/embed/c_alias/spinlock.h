/* SPDX-License-Identifier: MIT */
/*
 * spinlock - a kernel's lock, whose kind is one line
 */
#pragma once

#include <klock/klock.h>

/* clang-format off */
/* The kernel's lock: any of klock/klock.h that is taken by its address alone. */
#define SPINLOCK klock_ticket_u16

#define SPINLOCK_PASTE(kind, verb) kind##verb
#define SPINLOCK_VERB(kind, verb) SPINLOCK_PASTE(kind, verb)

typedef struct SPINLOCK spinlock;
#define spin_init SPINLOCK_VERB(SPINLOCK, _init)
#define spin_lock SPINLOCK_VERB(SPINLOCK, _lock)
#define spin_trylock SPINLOCK_VERB(SPINLOCK, _try_lock)
#define spin_unlock SPINLOCK_VERB(SPINLOCK, _unlock)
#define spin_lock_irqsave SPINLOCK_VERB(SPINLOCK, _lock_irqsave)
#define spin_unlock_irqrestore SPINLOCK_VERB(SPINLOCK, _unlock_irqrestore)
/* clang-format on */
