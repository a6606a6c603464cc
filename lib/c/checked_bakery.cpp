/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_BAKERIES(KLOCK_C_CHECKED_KIND, )
KLOCK_TIMEOUTS(KLOCK_C_CHECKED_KIND, )
