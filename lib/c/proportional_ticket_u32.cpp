/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

using lock_of_c = klock::proportional_ticket_lock<klock::u32>;
static_assert(lock_of_c::max_contenders == KLOCK_TICKET_U32_CONTENDERS);
static_assert(lock_of_c::default_base == KLOCK_PROPORTIONAL_BASE);

KLOCK_C_VERBS(proportional_ticket_u32)
KLOCK_C_TRY_VERBS(proportional_ticket_u32)
KLOCK_C_CONTENDED_VERB(proportional_ticket_u32)
KLOCK_C_SET_BASE(proportional_ticket_u32)
