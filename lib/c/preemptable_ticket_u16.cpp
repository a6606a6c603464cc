/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::preemptable_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_PREEMPTABLE_TICKET_U16_CONTENDERS);

KLOCK_C_VERBS(preemptable_ticket_u16)
KLOCK_C_TRY_VERBS(preemptable_ticket_u16)
KLOCK_C_CONTENDED_VERB(preemptable_ticket_u16)
