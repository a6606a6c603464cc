/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::phase_fair_lock<klock::u16>::max_contenders ==
	      KLOCK_PHASE_FAIR_U16_CONTENDERS);
static_assert(klock::phase_fair_lock<klock::u16>::max_readers ==
	      KLOCK_PHASE_FAIR_U16_READERS);

KLOCK_C_VERBS(phase_fair_u16)
KLOCK_C_TRY_VERBS(phase_fair_u16)
KLOCK_C_SHARED_VERBS(phase_fair_u16)
