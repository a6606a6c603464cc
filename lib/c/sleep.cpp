/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_SLEEPING(KLOCK_C_KIND, )
