/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_INHERITINGS(KLOCK_C_CHECKED_KIND, )
