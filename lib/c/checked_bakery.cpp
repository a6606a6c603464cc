/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_BAKERY(checked_bakery_4)

KLOCK_C_CHECKED_BAKERY(checked_bakery_8)

KLOCK_C_CHECKED_BAKERY(checked_bakery_16)

KLOCK_C_CHECKED_BAKERY(checked_bakery_32)

KLOCK_C_CHECKED_BAKERY(checked_bakery_64)

KLOCK_C_CHECKED_TIMEOUT(checked_timeout_8)

KLOCK_C_CHECKED_TIMEOUT(checked_timeout_64)
