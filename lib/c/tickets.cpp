/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);

KLOCK_C_VERBS(ticket_u8)
KLOCK_C_TRY_VERBS(ticket_u8)
KLOCK_C_CONTENDED_VERB(ticket_u8)

static_assert(klock::ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);

KLOCK_C_VERBS(ticket_u16)
KLOCK_C_TRY_VERBS(ticket_u16)
KLOCK_C_CONTENDED_VERB(ticket_u16)

static_assert(klock::ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);

KLOCK_C_VERBS(ticket_u32)
KLOCK_C_TRY_VERBS(ticket_u32)
KLOCK_C_CONTENDED_VERB(ticket_u32)

static_assert(klock::preemptable_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_PREEMPTABLE_TICKET_U8_CONTENDERS);

KLOCK_C_VERBS(preemptable_ticket_u8)
KLOCK_C_TRY_VERBS(preemptable_ticket_u8)
KLOCK_C_CONTENDED_VERB(preemptable_ticket_u8)

static_assert(klock::preemptable_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_PREEMPTABLE_TICKET_U16_CONTENDERS);

KLOCK_C_VERBS(preemptable_ticket_u16)
KLOCK_C_TRY_VERBS(preemptable_ticket_u16)
KLOCK_C_CONTENDED_VERB(preemptable_ticket_u16)

static_assert(klock::narrow_ticket_lock<2>::max_contenders ==
	      KLOCK_NARROW_TICKET_2_CONTENDERS);

KLOCK_C_VERBS(narrow_ticket_2)
KLOCK_C_TRY_VERBS(narrow_ticket_2)
KLOCK_C_CONTENDED_VERB(narrow_ticket_2)

static_assert(klock::narrow_ticket_lock<3>::max_contenders ==
	      KLOCK_NARROW_TICKET_3_CONTENDERS);

KLOCK_C_VERBS(narrow_ticket_3)
KLOCK_C_TRY_VERBS(narrow_ticket_3)
KLOCK_C_CONTENDED_VERB(narrow_ticket_3)

static_assert(klock::narrow_ticket_lock<4>::max_contenders ==
	      KLOCK_NARROW_TICKET_4_CONTENDERS);

KLOCK_C_VERBS(narrow_ticket_4)
KLOCK_C_TRY_VERBS(narrow_ticket_4)
KLOCK_C_CONTENDED_VERB(narrow_ticket_4)

static_assert(klock::padded_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);

KLOCK_C_VERBS(padded_ticket_u8)
KLOCK_C_CONTENDED_VERB(padded_ticket_u8)

static_assert(klock::padded_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);

KLOCK_C_VERBS(padded_ticket_u16)
KLOCK_C_CONTENDED_VERB(padded_ticket_u16)

static_assert(klock::padded_ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);

KLOCK_C_VERBS(padded_ticket_u32)
KLOCK_C_CONTENDED_VERB(padded_ticket_u32)

static_assert(klock::proportional_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u8>::default_base ==
	      KLOCK_PROPORTIONAL_BASE);

KLOCK_C_VERBS(proportional_ticket_u8)
KLOCK_C_TRY_VERBS(proportional_ticket_u8)
KLOCK_C_CONTENDED_VERB(proportional_ticket_u8)
KLOCK_C_SET_BASE(proportional_ticket_u8)

static_assert(klock::proportional_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u16>::default_base ==
	      KLOCK_PROPORTIONAL_BASE);

KLOCK_C_VERBS(proportional_ticket_u16)
KLOCK_C_TRY_VERBS(proportional_ticket_u16)
KLOCK_C_CONTENDED_VERB(proportional_ticket_u16)
KLOCK_C_SET_BASE(proportional_ticket_u16)

static_assert(klock::proportional_ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u32>::default_base ==
	      KLOCK_PROPORTIONAL_BASE);

KLOCK_C_VERBS(proportional_ticket_u32)
KLOCK_C_TRY_VERBS(proportional_ticket_u32)
KLOCK_C_CONTENDED_VERB(proportional_ticket_u32)
KLOCK_C_SET_BASE(proportional_ticket_u32)
