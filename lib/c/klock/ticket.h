/* SPDX-License-Identifier: MIT */
/*
 * ticket - locks with tickets, for klock/klock.h: first come, first served
 *
 * Zero bytes are a free lock; a proportional one then has base 1. At most
 * KLOCK_..._CONTENDERS contexts (CPUs x thread, interrupt, NMI) may hold or
 * wait at once; say so:
 *
 *	_Static_assert(2 * NCPU <= KLOCK_TICKET_U8_CONTENDERS, "too many CPUs");
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_TICKET_INIT {0, 0}
#define KLOCK_NARROW_TICKET_INIT {0}
#define KLOCK_PADDED_TICKET_INIT {0, 0}
#define KLOCK_PREEMPTABLE_TICKET_INIT {0, 0}

/* Held before anybody ran: one klock_unlock() opens it. bits: 2, 3 or 4. */
#define KLOCK_TICKET_INIT_HELD {0, 1}
#define KLOCK_NARROW_TICKET_INIT_HELD(bits) {1 << (8 - (bits))}
#define KLOCK_PADDED_TICKET_INIT_HELD {1, 0}
#define KLOCK_PREEMPTABLE_TICKET_INIT_HELD {0, 1}
/* clang-format on */

/* The capacities of ticket, padded and proportional locks. */
#define KLOCK_TICKET_U8_CONTENDERS 256ull
#define KLOCK_TICKET_U16_CONTENDERS 65536ull
#define KLOCK_TICKET_U32_CONTENDERS 4294967296ull

#define KLOCK_NARROW_TICKET_2_CONTENDERS 4ull
#define KLOCK_NARROW_TICKET_3_CONTENDERS 8ull
#define KLOCK_NARROW_TICKET_4_CONTENDERS 16ull

#define KLOCK_PREEMPTABLE_TICKET_U8_CONTENDERS 64ull
#define KLOCK_PREEMPTABLE_TICKET_U16_CONTENDERS 16384ull

/*
 * -- Tickets: the default --
 */

/* ticket_lock<u8>: 2 bytes */
struct __attribute__((aligned(2), may_alias)) klock_ticket_u8 {
	unsigned char klock_owner;
	unsigned char klock_next;
};

/* ticket_lock<u16>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_ticket_u16 {
	unsigned short klock_owner;
	unsigned short klock_next;
};

/* ticket_lock<u32>: 8 bytes */
struct __attribute__((aligned(8), may_alias)) klock_ticket_u32 {
	unsigned int klock_owner;
	unsigned int klock_next;
};

/*
 * -- Preemptable: passes over a waiter that does not run --
 */

/* preemptable_ticket_lock<u8>: 2 bytes */
struct __attribute__((aligned(2), may_alias)) klock_preemptable_ticket_u8 {
	unsigned char klock_next;
	unsigned char klock_state;
};

/* preemptable_ticket_lock<u16>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_preemptable_ticket_u16 {
	unsigned short klock_next;
	unsigned short klock_state;
};

/*
 * -- Narrow: one byte --
 */

/* narrow_ticket_lock<2>: for 4 contexts */
struct __attribute__((may_alias)) klock_narrow_ticket_2 {
	unsigned char klock_byte;
};

/* narrow_ticket_lock<3>: for 8 contexts */
struct __attribute__((may_alias)) klock_narrow_ticket_3 {
	unsigned char klock_byte;
};

/* narrow_ticket_lock<4>: for 16 contexts */
struct __attribute__((may_alias)) klock_narrow_ticket_4 {
	unsigned char klock_byte;
};

/*
 * -- Padded: a cache line for each counter --
 *
 * No try_lock: no single operation reaches both counters.
 */

/* padded_ticket_lock<u8>: two lines */
struct __attribute__((may_alias)) klock_padded_ticket_u8 {
	unsigned char klock_next __attribute__((aligned(klock_cache_line)));
	unsigned char klock_owner __attribute__((aligned(klock_cache_line)));
};

/* padded_ticket_lock<u16>: two lines */
struct __attribute__((may_alias)) klock_padded_ticket_u16 {
	unsigned short klock_next __attribute__((aligned(klock_cache_line)));
	unsigned short klock_owner __attribute__((aligned(klock_cache_line)));
};

/* padded_ticket_lock<u32>: two lines */
struct __attribute__((may_alias)) klock_padded_ticket_u32 {
	unsigned int klock_next __attribute__((aligned(klock_cache_line)));
	unsigned int klock_owner __attribute__((aligned(klock_cache_line)));
};

/*
 * -- Proportional: who waits far behind looks seldom --
 *
 * base: turns of PAUSE that one critical section and its handoff last.
 * klock/calibrate.hpp measures it; init() gives it KLOCK_PROPORTIONAL_BASE, and
 * set_base() may change it at any time.
 */
#define KLOCK_PROPORTIONAL_BASE 64u
/* clang-format off */
#define KLOCK_PROPORTIONAL_TICKET_INIT(base) {{0, 0}, (base)}
#define KLOCK_PROPORTIONAL_TICKET_INIT_HELD(base) {{0, 1}, (base)}
/* clang-format on */

/* proportional_ticket_lock<u8>: 8 bytes */
struct __attribute__((may_alias)) klock_proportional_ticket_u8 {
	struct klock_ticket_u8 klock_queue;
	unsigned int klock_base;
};

/* proportional_ticket_lock<u16>: 8 bytes */
struct __attribute__((may_alias)) klock_proportional_ticket_u16 {
	struct klock_ticket_u16 klock_queue;
	unsigned int klock_base;
};

/* proportional_ticket_lock<u32>: 16 bytes */
struct __attribute__((may_alias)) klock_proportional_ticket_u32 {
	struct klock_ticket_u32 klock_queue;
	unsigned int klock_base;
};

KLOCK_TICKETS(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
