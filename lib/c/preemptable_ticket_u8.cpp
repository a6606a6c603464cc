/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::preemptable_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_PREEMPTABLE_TICKET_U8_CONTENDERS);

KLOCK_C_VERBS(preemptable_ticket_u8)
KLOCK_C_TRY_VERBS(preemptable_ticket_u8)
KLOCK_C_CONTENDED_VERB(preemptable_ticket_u8)
