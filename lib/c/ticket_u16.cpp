/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);

KLOCK_C_VERBS(ticket_u16)
KLOCK_C_TRY_VERBS(ticket_u16)
KLOCK_C_CONTENDED_VERB(ticket_u16)
