/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>
#include <klock/counted.h>
#include <klock/print_counts.hpp>

KLOCK_C_COUNTED(counted_ticket_u8)
KLOCK_C_CONTENDED_VERB(counted_ticket_u8)

KLOCK_C_COUNTED(counted_ticket_u16)
KLOCK_C_CONTENDED_VERB(counted_ticket_u16)

KLOCK_C_COUNTED(counted_ticket_u32)
KLOCK_C_CONTENDED_VERB(counted_ticket_u32)

KLOCK_C_COUNTED(counted_preemptable_ticket_u8)
KLOCK_C_CONTENDED_VERB(counted_preemptable_ticket_u8)

KLOCK_C_COUNTED(counted_preemptable_ticket_u16)
KLOCK_C_CONTENDED_VERB(counted_preemptable_ticket_u16)

KLOCK_C_COUNTED(counted_tas)

KLOCK_C_COUNTED(counted_backoff_ttas)

KLOCK_C_COUNTED(counted_rw_ticket_u8)
KLOCK_C_SHARED_VERBS(counted_rw_ticket_u8)

KLOCK_C_COUNTED(counted_rw_ticket_u16)
KLOCK_C_SHARED_VERBS(counted_rw_ticket_u16)

void klock_print_counts(void (*put)(const char *line, void *with), void *with)
{
	klock::print_counts([=](const char *line) { put(line, with); });
}

void klock_reset_counts(void) { klock::reset_counts(); }
