/* SPDX-License-Identifier: MIT */
/*
 * readers - the locks of kinds.h that readers share, once more: taken to read
 *
 * The same table, with the shared verbs in their places.
 */
#pragma once

#include "kinds.h"

/* One lock, to write and to read. */
struct shared_kind {
	struct kind writer;
	struct kind reader;
};

/* with: the arguments, in their brackets */
/* clang-format off */
#define READ(x, with, by, with_flags, by_flags)                                \
	static void x##_read_take(void) { klock_lock_shared with; }       \
	static void x##_read_give(void) { klock_unlock_shared with; }     \
	static unsigned long x##_read_take_irqsave(void)                       \
	{                                                                      \
		return klock_lock_shared_irqsave by;                      \
	}                                                                      \
	static void x##_read_give_irqrestore(unsigned long flags)              \
	{                                                                      \
		klock_unlock_shared_irqrestore with_flags;                \
	}                                                                      \
	static int x##_read_try_take(void)                                     \
	{                                                                      \
		return klock_try_lock_shared with;                        \
	}                                                                      \
	static int x##_read_try_irqsave(unsigned long *flags)                  \
	{                                                                      \
		return klock_try_lock_shared_irqsave by_flags;            \
	}

#define READ_PLAIN(x) READ(x, (&x), (&x), (&x, flags), (&x, flags))
#define READ_BY_CPU(x)                                                         \
	READ(x, (&x, self), (&x, self_id), (&x, self_id, flags),               \
	     (&x, self_id, flags))

READ_PLAIN(rw_ticket_u8)
READ_PLAIN(rw_ticket_u16)
READ_PLAIN(phase_fair_u8)
READ_PLAIN(phase_fair_u16)
READ_PLAIN(phase_fair_u32)
READ_BY_CPU(reader_8)
READ_BY_CPU(reader_64)
READ_BY_CPU(reader_256)

#define SHARED(x, ...)                                                         \
	{ENTRY(x, __VA_ARGS__, 0),                                             \
	 {#x ", to read", x##_spoil, x##_init, x##_read_take, x##_read_give,   \
	  x##_is_locked, x##_read_take_irqsave, x##_read_give_irqrestore,      \
	  x##_read_try_take, x##_read_try_irqsave, 0, 0, 0}}
#define SHARED_TRY(x) SHARED(x, TRIES(x))
#define SHARED_ONLY(x) SHARED(x, NO_TRIES)
/* clang-format on */

static const struct shared_kind shared_kinds[] = {
	SHARED_TRY(rw_ticket_u8),    SHARED_TRY(rw_ticket_u16),
	SHARED_TRY(phase_fair_u8),   SHARED_TRY(phase_fair_u16),
	SHARED_ONLY(phase_fair_u32), SHARED_ONLY(reader_8),
	SHARED_ONLY(reader_64),	     SHARED_ONLY(reader_256),
};

enum { shared_kinds_here = sizeof(shared_kinds) / sizeof(shared_kinds[0]) };
