/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::narrow_ticket_lock<2>::max_contenders ==
	      KLOCK_NARROW_TICKET_2_CONTENDERS);

KLOCK_C_VERBS(narrow_ticket_2)
KLOCK_C_TRY_VERBS(narrow_ticket_2)
KLOCK_C_CONTENDED_VERB(narrow_ticket_2)
