/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_RECURSIVES(KLOCK_C_KIND, )
