/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::narrow_ticket_lock<4>::max_contenders ==
	      KLOCK_NARROW_TICKET_4_CONTENDERS);

KLOCK_C_VERBS(narrow_ticket_4)
KLOCK_C_TRY_VERBS(narrow_ticket_4)
KLOCK_C_CONTENDED_VERB(narrow_ticket_4)
