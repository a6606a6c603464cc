/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_SLEEPING(KLOCK_C_CHECKED_KIND, )
