/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_PLAIN(checked_phase_fair_u32)
KLOCK_C_CHECKED_SHARED_VERBS(checked_phase_fair_u32)
