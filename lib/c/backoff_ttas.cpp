/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_VERBS(backoff_ttas)
KLOCK_C_TRY_VERBS(backoff_ttas)
