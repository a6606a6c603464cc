/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_BAKERIES(KLOCK_C_KIND, )
KLOCK_TIMEOUTS(KLOCK_C_KIND, )
