/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::rw_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_RW_TICKET_U8_CONTENDERS);
static_assert(klock::rw_ticket_lock<klock::u8>::max_readers ==
	      KLOCK_RW_TICKET_U8_READERS);

KLOCK_C_VERBS(rw_ticket_u8)
KLOCK_C_TRY_VERBS(rw_ticket_u8)
KLOCK_C_SHARED_VERBS(rw_ticket_u8)
