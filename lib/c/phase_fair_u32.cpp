/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::wide_phase_fair_lock::max_contenders ==
	      KLOCK_PHASE_FAIR_U32_CONTENDERS);
static_assert(klock::wide_phase_fair_lock::max_readers ==
	      KLOCK_PHASE_FAIR_U32_READERS);

KLOCK_C_VERBS(phase_fair_u32)
KLOCK_C_SHARED_VERBS(phase_fair_u32)
