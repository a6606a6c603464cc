/* SPDX-License-Identifier: MIT */
#include <klock/c_checked_functions.hpp>

KLOCK_C_CHECKED_READERS(checked_rw_ticket_u8)

KLOCK_C_CHECKED_READERS(checked_rw_ticket_u16)

KLOCK_C_CHECKED_READERS(checked_phase_fair_u8)

KLOCK_C_CHECKED_READERS(checked_phase_fair_u16)

KLOCK_C_CHECKED_PLAIN(checked_phase_fair_u32)
KLOCK_C_CHECKED_SHARED_VERBS(checked_phase_fair_u32)

KLOCK_C_CHECKED_READER(checked_reader_8)

KLOCK_C_CHECKED_READER(checked_reader_64)

KLOCK_C_CHECKED_READER(checked_reader_256)
