/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>

KLOCK_QUEUEDS(KLOCK_C_KIND, )
KLOCK_QUEUEDS(KLOCK_C_COUNTED_KIND, )
