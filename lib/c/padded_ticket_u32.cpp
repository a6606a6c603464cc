/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::padded_ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);

KLOCK_C_VERBS(padded_ticket_u32)
KLOCK_C_CONTENDED_VERB(padded_ticket_u32)
