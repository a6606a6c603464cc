/* SPDX-License-Identifier: MIT */
/*
 * first - the static initialiser of each kind that verbs.h lists, but clh's
 *
 * FIRST_x: what a lock of the kind x is written with.
 */
#pragma once

#include <klock/klock.h>

/*
 * EACH(KLOCK_ALL(M, )) for an M whose functions call klock_lock() and so on:
 * those are made of KLOCK_ALL as well, and no macro is expanded within itself.
 * What M calls by AFTER_THE_LIST is expanded when the list is.
 */
#define NOTHING()
#define AFTER_THE_LIST(macro) macro NOTHING()
#define EACH(...) __VA_ARGS__

#define FIRST_ticket_u8 KLOCK_TICKET_INIT
#define FIRST_ticket_u16 KLOCK_TICKET_INIT
#define FIRST_ticket_u32 KLOCK_TICKET_INIT
#define FIRST_preemptable_ticket_u8 KLOCK_PREEMPTABLE_TICKET_INIT
#define FIRST_preemptable_ticket_u16 KLOCK_PREEMPTABLE_TICKET_INIT
#define FIRST_narrow_ticket_2 KLOCK_NARROW_TICKET_INIT
#define FIRST_narrow_ticket_3 KLOCK_NARROW_TICKET_INIT
#define FIRST_narrow_ticket_4 KLOCK_NARROW_TICKET_INIT
#define FIRST_padded_ticket_u8 KLOCK_PADDED_TICKET_INIT
#define FIRST_padded_ticket_u16 KLOCK_PADDED_TICKET_INIT
#define FIRST_padded_ticket_u32 KLOCK_PADDED_TICKET_INIT
#define FIRST_proportional_ticket_u8 KLOCK_PROPORTIONAL_TICKET_INIT(1)
#define FIRST_proportional_ticket_u16 KLOCK_PROPORTIONAL_TICKET_INIT(1)
#define FIRST_proportional_ticket_u32 KLOCK_PROPORTIONAL_TICKET_INIT(1)
#define FIRST_recursive_ticket_u8 KLOCK_RECURSIVE_INIT
#define FIRST_recursive_ticket_u16 KLOCK_RECURSIVE_INIT
#define FIRST_recursive_preemptable_ticket_u8 KLOCK_RECURSIVE_INIT
#define FIRST_recursive_preemptable_ticket_u16 KLOCK_RECURSIVE_INIT
#define FIRST_tas KLOCK_TAS_INIT
#define FIRST_tas_u32 KLOCK_TAS_INIT
#define FIRST_ttas KLOCK_TTAS_INIT
#define FIRST_ttas_u32 KLOCK_TTAS_INIT
#define FIRST_backoff_ttas KLOCK_BACKOFF_TTAS_INIT
#define FIRST_queued_64 KLOCK_QUEUED_INIT
#define FIRST_queued_256 KLOCK_QUEUED_INIT
#define FIRST_mcs KLOCK_MCS_INIT
#define FIRST_timeout_8 KLOCK_TIMEOUT_INIT
#define FIRST_timeout_64 KLOCK_TIMEOUT_INIT
#define FIRST_bakery_4 KLOCK_BAKERY_INIT
#define FIRST_bakery_8 KLOCK_BAKERY_INIT
#define FIRST_bakery_16 KLOCK_BAKERY_INIT
#define FIRST_bakery_32 KLOCK_BAKERY_INIT
#define FIRST_bakery_64 KLOCK_BAKERY_INIT
#define FIRST_rw_ticket_u8 KLOCK_RW_TICKET_INIT
#define FIRST_rw_ticket_u16 KLOCK_RW_TICKET_INIT
#define FIRST_phase_fair_u8 KLOCK_PHASE_FAIR_INIT
#define FIRST_phase_fair_u16 KLOCK_PHASE_FAIR_INIT
#define FIRST_reader_8 KLOCK_READER_INIT
#define FIRST_reader_64 KLOCK_READER_INIT
#define FIRST_reader_256 KLOCK_READER_INIT
