/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::padded_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);

KLOCK_C_VERBS(padded_ticket_u16)
KLOCK_C_CONTENDED_VERB(padded_ticket_u16)
