/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_QUEUED(checked_queued_64)
