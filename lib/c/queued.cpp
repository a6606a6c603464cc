/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>
#include <klock/c_counted_functions.hpp>

KLOCK_C_VERBS(queued_64)
KLOCK_C_TRY_VERBS(queued_64)
KLOCK_C_CONTENDED_VERB(queued_64)
KLOCK_C_LOCK_FROM(queued_64)

KLOCK_C_VERBS(queued_256)
KLOCK_C_TRY_VERBS(queued_256)
KLOCK_C_CONTENDED_VERB(queued_256)
KLOCK_C_LOCK_FROM(queued_256)

KLOCK_C_COUNTED(counted_queued_64)
KLOCK_C_CONTENDED_VERB(counted_queued_64)
KLOCK_C_LOCK_FROM(counted_queued_64)

KLOCK_C_COUNTED(counted_queued_256)
KLOCK_C_CONTENDED_VERB(counted_queued_256)
KLOCK_C_LOCK_FROM(counted_queued_256)
