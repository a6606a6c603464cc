/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>

KLOCK_C_COUNTED(counted_preemptable_ticket_u8)
KLOCK_C_CONTENDED_VERB(counted_preemptable_ticket_u8)
