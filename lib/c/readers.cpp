/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::rw_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_RW_TICKET_U8_CONTENDERS);
static_assert(klock::rw_ticket_lock<klock::u8>::max_readers ==
	      KLOCK_RW_TICKET_U8_READERS);

KLOCK_C_VERBS(rw_ticket_u8)
KLOCK_C_TRY_VERBS(rw_ticket_u8)
KLOCK_C_SHARED_VERBS(rw_ticket_u8)

static_assert(klock::rw_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_RW_TICKET_U16_CONTENDERS);
static_assert(klock::rw_ticket_lock<klock::u16>::max_readers ==
	      KLOCK_RW_TICKET_U16_READERS);

KLOCK_C_VERBS(rw_ticket_u16)
KLOCK_C_TRY_VERBS(rw_ticket_u16)
KLOCK_C_SHARED_VERBS(rw_ticket_u16)

static_assert(klock::phase_fair_lock<klock::u8>::max_contenders ==
	      KLOCK_PHASE_FAIR_U8_CONTENDERS);
static_assert(klock::phase_fair_lock<klock::u8>::max_readers ==
	      KLOCK_PHASE_FAIR_U8_READERS);

KLOCK_C_VERBS(phase_fair_u8)
KLOCK_C_TRY_VERBS(phase_fair_u8)
KLOCK_C_SHARED_VERBS(phase_fair_u8)

static_assert(klock::phase_fair_lock<klock::u16>::max_contenders ==
	      KLOCK_PHASE_FAIR_U16_CONTENDERS);
static_assert(klock::phase_fair_lock<klock::u16>::max_readers ==
	      KLOCK_PHASE_FAIR_U16_READERS);

KLOCK_C_VERBS(phase_fair_u16)
KLOCK_C_TRY_VERBS(phase_fair_u16)
KLOCK_C_SHARED_VERBS(phase_fair_u16)

static_assert(klock::wide_phase_fair_lock::max_contenders ==
	      KLOCK_PHASE_FAIR_U32_CONTENDERS);
static_assert(klock::wide_phase_fair_lock::max_readers ==
	      KLOCK_PHASE_FAIR_U32_READERS);

KLOCK_C_VERBS(phase_fair_u32)
KLOCK_C_SHARED_VERBS(phase_fair_u32)

KLOCK_C_READER(reader_8)

KLOCK_C_READER(reader_64)

KLOCK_C_READER(reader_256)
