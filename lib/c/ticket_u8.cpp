/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);

KLOCK_C_VERBS(ticket_u8)
KLOCK_C_TRY_VERBS(ticket_u8)
KLOCK_C_CONTENDED_VERB(ticket_u8)
