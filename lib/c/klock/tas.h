/* SPDX-License-Identifier: MIT */
/*
 * tas - test-and-set locks, for klock/klock.h: one byte or a word, no order of
 * service
 *
 * Any number of contenders; zero bytes are a free lock. None can say whether
 * somebody waits.
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_TAS_INIT {0}
#define KLOCK_TTAS_INIT {0}
#define KLOCK_BACKOFF_TTAS_INIT {0}

/* Held before anybody ran: one klock_unlock() opens it. */
#define KLOCK_TAS_INIT_HELD {1}
#define KLOCK_TTAS_INIT_HELD {1}
#define KLOCK_BACKOFF_TTAS_INIT_HELD {1}
/* clang-format on */

/* tas_lock: a waiter writes again and again */
struct __attribute__((may_alias)) klock_tas {
	unsigned char klock_taken;
};

/* sized_tas_lock<u32>: a word, for CPUs whose narrow stores are slow */
struct __attribute__((may_alias)) klock_tas_u32 {
	unsigned int klock_taken;
};

/* ttas_lock: a waiter reads until it is free */
struct __attribute__((may_alias)) klock_ttas {
	unsigned char klock_taken;
};

/* sized_ttas_lock<u32>: a word */
struct __attribute__((may_alias)) klock_ttas_u32 {
	unsigned int klock_taken;
};

/* backoff_ttas_lock: a waiter reads ever more seldom */
struct __attribute__((may_alias)) klock_backoff_ttas {
	unsigned char klock_taken;
};

KLOCK_TASES(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
