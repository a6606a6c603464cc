/* SPDX-License-Identifier: MIT */
/*
 * recursive - tickets whose holder may lock again, for klock/klock.h
 *
 * For code that comes from a kernel with such locks. klock/recursive_lock.hpp
 * says why new code should not use them, and what a handler must do. Each
 * klock_lock() needs a klock_unlock(), the last of which releases.
 *
 * The owner is the CPU (klock_os_cpu_id()), with preemption off, or the result
 * of klock_os_owner_id(). Zero bytes are a free lock; its contenders are those
 * of the tickets inside.
 */
#pragma once

#include <klock/ticket.h>
#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define KLOCK_RECURSIVE_INIT {{0, 0}, 0, 0}
/* clang-format on */

/* recursive_lock<ticket_lock<u8>> */
struct __attribute__((may_alias)) klock_recursive_ticket_u8 {
	struct klock_ticket_u8 klock_inner;
	unsigned int klock_deep;
	unsigned long klock_owner;
};

/* recursive_lock<ticket_lock<u16>> */
struct __attribute__((may_alias)) klock_recursive_ticket_u16 {
	struct klock_ticket_u16 klock_inner;
	unsigned int klock_deep;
	unsigned long klock_owner;
};

/* recursive_lock<preemptable_ticket_lock<u8>> */
struct __attribute__((may_alias)) klock_recursive_preemptable_ticket_u8 {
	struct klock_preemptable_ticket_u8 klock_inner;
	unsigned int klock_deep;
	unsigned long klock_owner;
};

/* recursive_lock<preemptable_ticket_lock<u16>> */
struct __attribute__((may_alias)) klock_recursive_preemptable_ticket_u16 {
	struct klock_preemptable_ticket_u16 klock_inner;
	unsigned int klock_deep;
	unsigned long klock_owner;
};

KLOCK_RECURSIVES(KLOCK_DECLARE_KIND, )

#ifdef __cplusplus
}
#endif
