/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>

KLOCK_C_COUNTED(counted_rw_ticket_u16)
KLOCK_C_SHARED_VERBS(counted_rw_ticket_u16)
