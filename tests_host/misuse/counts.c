/* SPDX-License-Identifier: MIT */
/* The same of a lock for C. */
#if WRONG == 2
/* says-error@*:*{{#pragma pack is on around klock's headers: end it before}} */
#pragma pack(1)
#endif
#include <klock/klock.h>

_Static_assert(2 * 200 <= KLOCK_TICKET_U16_CONTENDERS, "two contexts a CPU");

#if WRONG == 1
/* says-error@+1{{two contexts a CPU}} */
_Static_assert(2 * 200 <= KLOCK_TICKET_U8_CONTENDERS, "two contexts a CPU");
#endif
