/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_VERBS(queued_64)
KLOCK_C_TRY_VERBS(queued_64)
KLOCK_C_CONTENDED_VERB(queued_64)
KLOCK_C_LOCK_FROM(queued_64)
