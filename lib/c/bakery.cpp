/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_BAKERY(bakery_4)

KLOCK_C_BAKERY(bakery_8)

KLOCK_C_BAKERY(bakery_16)

KLOCK_C_BAKERY(bakery_32)

KLOCK_C_BAKERY(bakery_64)

KLOCK_C_TIMEOUT(timeout_8)

KLOCK_C_TIMEOUT(timeout_64)
