/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>

KLOCK_C_COUNTED(counted_tas)
