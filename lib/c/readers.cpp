/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::rw_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_RW_TICKET_U8_CONTENDERS);
static_assert(klock::rw_ticket_lock<klock::u8>::max_readers ==
	      KLOCK_RW_TICKET_U8_READERS);
static_assert(klock::rw_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_RW_TICKET_U16_CONTENDERS);
static_assert(klock::rw_ticket_lock<klock::u16>::max_readers ==
	      KLOCK_RW_TICKET_U16_READERS);
static_assert(klock::phase_fair_lock<klock::u8>::max_contenders ==
	      KLOCK_PHASE_FAIR_U8_CONTENDERS);
static_assert(klock::phase_fair_lock<klock::u8>::max_readers ==
	      KLOCK_PHASE_FAIR_U8_READERS);
static_assert(klock::phase_fair_lock<klock::u16>::max_contenders ==
	      KLOCK_PHASE_FAIR_U16_CONTENDERS);
static_assert(klock::phase_fair_lock<klock::u16>::max_readers ==
	      KLOCK_PHASE_FAIR_U16_READERS);

KLOCK_READERS(KLOCK_C_KIND, )
