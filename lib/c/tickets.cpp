/* SPDX-License-Identifier: MIT */
#include <klock/c_functions.hpp>

static_assert(klock::ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);
static_assert(klock::ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);
static_assert(klock::ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);
static_assert(klock::preemptable_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_PREEMPTABLE_TICKET_U8_CONTENDERS);
static_assert(klock::preemptable_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_PREEMPTABLE_TICKET_U16_CONTENDERS);
static_assert(klock::narrow_ticket_lock<2>::max_contenders ==
	      KLOCK_NARROW_TICKET_2_CONTENDERS);
static_assert(klock::narrow_ticket_lock<3>::max_contenders ==
	      KLOCK_NARROW_TICKET_3_CONTENDERS);
static_assert(klock::narrow_ticket_lock<4>::max_contenders ==
	      KLOCK_NARROW_TICKET_4_CONTENDERS);
static_assert(klock::padded_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);
static_assert(klock::padded_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);
static_assert(klock::padded_ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u8>::max_contenders ==
	      KLOCK_TICKET_U8_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u8>::default_base ==
	      KLOCK_PROPORTIONAL_BASE);
static_assert(klock::proportional_ticket_lock<klock::u16>::max_contenders ==
	      KLOCK_TICKET_U16_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u16>::default_base ==
	      KLOCK_PROPORTIONAL_BASE);
static_assert(klock::proportional_ticket_lock<klock::u32>::max_contenders ==
	      KLOCK_TICKET_U32_CONTENDERS);
static_assert(klock::proportional_ticket_lock<klock::u32>::default_base ==
	      KLOCK_PROPORTIONAL_BASE);

KLOCK_TICKETS(KLOCK_C_KIND, )
