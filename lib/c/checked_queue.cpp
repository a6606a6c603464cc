/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_NODES(KLOCK_C_CHECKED_KIND, )
KLOCK_QUEUEDS(KLOCK_C_CHECKED_KIND, )
