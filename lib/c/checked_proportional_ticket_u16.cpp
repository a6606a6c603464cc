/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_PROPORTIONAL(checked_proportional_ticket_u16)
