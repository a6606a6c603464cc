/* SPDX-License-Identifier: MIT */
/* The same of a lock for C. */
#include <klock/klock.h>

_Static_assert(2 * 200 <= KLOCK_TICKET_U16_CONTENDERS, "two contexts a CPU");

#if WRONG == 1
/* says-error@+1{{two contexts a CPU}} */
_Static_assert(2 * 200 <= KLOCK_TICKET_U8_CONTENDERS, "two contexts a CPU");
#endif
