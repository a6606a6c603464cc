/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

KLOCK_C_READER(reader_8)
