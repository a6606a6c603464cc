/* SPDX-License-Identifier: MIT */
/*
 * kernel_c - the kernel in C as it stands, but with all of its locks checked
 *
 * As kernels.cpp: the locks' names become those of checked ones; and their
 * classes are no other kernel's, which take theirs in other contexts.
 */
#include <klock/klock.h>

#define klock_ticket_u8 klock_checked_ticket_u8
#define klock_ticket_u8_lock_irqsave klock_checked_ticket_u8_lock_irqsave
#define klock_ticket_u8_unlock_irqrestore                                      \
	klock_checked_ticket_u8_unlock_irqrestore
#define klock_ticket_u8_try_lock_irqsave                                       \
	klock_checked_ticket_u8_try_lock_irqsave
#undef KLOCK_TICKET_INIT
#define KLOCK_TICKET_INIT KLOCK_CHECKED_INIT("log in C", {0, 0})

#define klock_mcs klock_checked_mcs
#define klock_mcs_lock klock_checked_mcs_lock
#define klock_mcs_unlock klock_checked_mcs_unlock
#undef KLOCK_MCS_INIT
#define KLOCK_MCS_INIT KLOCK_CHECKED_INIT("mcs", {0})

#define klock_clh klock_checked_clh
#define klock_clh_lock_irqsave klock_checked_clh_lock_irqsave
#define klock_clh_unlock_irqrestore klock_checked_clh_unlock_irqrestore
#undef KLOCK_CLH_INIT
#define KLOCK_CLH_INIT(name)                                                   \
	KLOCK_CHECKED_INIT("clh", {&(name).klock_inner.klock_first, {0}})

#define klock_rw_ticket_u8 klock_checked_rw_ticket_u8
#define klock_rw_ticket_u8_lock_irqsave klock_checked_rw_ticket_u8_lock_irqsave
#define klock_rw_ticket_u8_unlock_irqrestore                                   \
	klock_checked_rw_ticket_u8_unlock_irqrestore
#define klock_rw_ticket_u8_lock_shared_irqsave                                 \
	klock_checked_rw_ticket_u8_lock_shared_irqsave
#define klock_rw_ticket_u8_unlock_shared_irqrestore                            \
	klock_checked_rw_ticket_u8_unlock_shared_irqrestore
#undef KLOCK_RW_TICKET_INIT
#define KLOCK_RW_TICKET_INIT KLOCK_CHECKED_INIT("routes in C", {0, 0})

#include "../kernel_c/kernel.c"
