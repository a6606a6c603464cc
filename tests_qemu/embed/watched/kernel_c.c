/* SPDX-License-Identifier: MIT */
/*
 * kernel_c - the kernel in C as it stands, but with all of its locks checked
 *
 * As kernels.cpp: the locks' names become those of checked ones; and their
 * classes are no other kernel's, which take theirs in other contexts.
 */
#include <klock/klock.h>

/* No unchecked ones are left for the verbs to choose. */
#undef KLOCK_CASE
#define KLOCK_CASE(shape, x, f)                                                \
	, struct klock_checked_##x * : klock_checked_##x##_##f

#define klock_ticket_u8 klock_checked_ticket_u8
#undef KLOCK_TICKET_INIT
#define KLOCK_TICKET_INIT KLOCK_CHECKED_INIT("log in C", {0, 0})

#define klock_mcs klock_checked_mcs
#undef KLOCK_MCS_INIT
#define KLOCK_MCS_INIT KLOCK_CHECKED_INIT("mcs", {0})

#define klock_clh klock_checked_clh
#undef KLOCK_CLH_INIT
#define KLOCK_CLH_INIT(name)                                                   \
	KLOCK_CHECKED_INIT("clh", {&(name).klock_inner.klock_first, {0}})

#define klock_rw_ticket_u8 klock_checked_rw_ticket_u8
#undef KLOCK_RW_TICKET_INIT
#define KLOCK_RW_TICKET_INIT KLOCK_CHECKED_INIT("routes in C", {0, 0})

#include "../kernel_c/kernel.c"
