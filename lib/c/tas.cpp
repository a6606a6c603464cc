/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_TASES(KLOCK_C_KIND, )
