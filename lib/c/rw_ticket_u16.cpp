/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::rw_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_RW_TICKET_U16_CONTENDERS);
static_assert(klock::rw_ticket_lock<klock::u16>::max_readers ==
	      KLOCK_RW_TICKET_U16_READERS);

KLOCK_C_VERBS(rw_ticket_u16)
KLOCK_C_TRY_VERBS(rw_ticket_u16)
KLOCK_C_SHARED_VERBS(rw_ticket_u16)
