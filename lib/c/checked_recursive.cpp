/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_RECURSIVES(KLOCK_C_CHECKED_KIND, )
