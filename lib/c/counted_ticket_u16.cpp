/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>

KLOCK_C_COUNTED(counted_ticket_u16)
KLOCK_C_CONTENDED_VERB(counted_ticket_u16)
