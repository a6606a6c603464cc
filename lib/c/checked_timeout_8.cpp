/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_TIMEOUT(checked_timeout_8)
