/* SPDX-License-Identifier: MIT */
/*
 * readers - locks that readers share, for klock/klock.h
 *
 *	static struct klock_phase_fair_u8 routes_lock = KLOCK_PHASE_FAIR_INIT;
 *
 *	klock_lock_shared(&routes_lock);	reads, with others
 *	klock_unlock_shared(&routes_lock);
 *
 *	klock_lock(&routes_lock);		writes, alone
 *	klock_unlock(&routes_lock);
 *
 * Zero bytes are a free lock. Writers have the verbs of any lock.
 *
 * Context: if a handler takes the lock too, to read or to write, readers and
 * writers use the irqsave calls. NMI: only the try_lock calls; none of a reader
 * lock. Reads nest only in a reader lock. A reader that locks to write waits
 * for itself; one that may have to write reads a phase-fair lock by
 * klock_lock_upgradable(). The checked forms report all of this (checked.h).
 */
#pragma once

#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_RW_TICKET_INIT {0, 0}
#define KLOCK_PHASE_FAIR_INIT {0, 0, 0, 0}
#define KLOCK_READER_INIT {0, {{0}}}
/* clang-format on */

/*
 * -- Two counts: readers and writers in the order of their arrival --
 *
 * At most KLOCK_..._CONTENDERS contexts at once, readers and writers together.
 */
#define KLOCK_RW_TICKET_U8_CONTENDERS 256ull
#define KLOCK_RW_TICKET_U16_CONTENDERS 65536ull
#define KLOCK_RW_TICKET_U8_READERS KLOCK_RW_TICKET_U8_CONTENDERS
#define KLOCK_RW_TICKET_U16_READERS KLOCK_RW_TICKET_U16_CONTENDERS

/* rw_ticket_lock<u8>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_rw_ticket_u8 {
	unsigned short klock_completion;
	unsigned short klock_request;
};

/* rw_ticket_lock<u16>: 8 bytes */
struct __attribute__((aligned(8), may_alias)) klock_rw_ticket_u16 {
	unsigned int klock_completion;
	unsigned int klock_request;
};

/*
 * -- Phase-fair: a reader waits for one writer at most --
 *
 * At most KLOCK_..._CONTENDERS writers, and KLOCK_..._READERS readers.
 */
#define KLOCK_PHASE_FAIR_U8_CONTENDERS 256ull
#define KLOCK_PHASE_FAIR_U16_CONTENDERS 65536ull
#define KLOCK_PHASE_FAIR_U8_READERS 63ull
#define KLOCK_PHASE_FAIR_U16_READERS 16383ull

/* phase_fair_lock<u8>: 4 bytes */
struct __attribute__((aligned(4), may_alias)) klock_phase_fair_u8 {
	unsigned char klock_wout;
	unsigned char klock_rin;
	unsigned char klock_win;
	unsigned char klock_rout;
};

/* phase_fair_lock<u16>: 8 bytes */
struct __attribute__((aligned(8), may_alias)) klock_phase_fair_u16 {
	unsigned short klock_wout;
	unsigned short klock_rin;
	unsigned short klock_win;
	unsigned short klock_rout;
};

/*
 * -- A line for each CPU: read everywhere, written hardly ever --
 *
 * For CPUs 0 to 7, 63 or 255; not all of them need exist, but a writer looks at
 * the lines of all. A reader passes its CPU's number, and must stay on that CPU
 * until it unlocks. The irqsave calls call cpu_id() for the number, with
 * interrupts off. Reads of one CPU nest. No try_lock.
 */

/* Only one CPU's readers write it. */
struct __attribute__((may_alias)) klock_reader_line {
	unsigned char klock_reading __attribute__((aligned(klock_cache_line)));
};

/* reader_lock<cpus>: cpus + 1 lines */
#define KLOCK_READER(cpus)                                                     \
	struct __attribute__((may_alias)) klock_reader_##cpus {                \
		unsigned int klock_word                                        \
			__attribute__((aligned(klock_cache_line)));            \
		struct klock_reader_line klock_marks[cpus];                    \
	}

KLOCK_READER(8);
KLOCK_READER(64);
KLOCK_READER(256);

KLOCK_READERS(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
