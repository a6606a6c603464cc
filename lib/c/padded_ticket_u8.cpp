/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::padded_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);

KLOCK_C_VERBS(padded_ticket_u8)
KLOCK_C_CONTENDED_VERB(padded_ticket_u8)
