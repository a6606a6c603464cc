/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_TAS(checked_tas)

KLOCK_C_CHECKED_TAS(checked_ttas)

KLOCK_C_CHECKED_TAS(checked_backoff_ttas)
