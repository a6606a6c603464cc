/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_TIMEOUT(timeout_64)
