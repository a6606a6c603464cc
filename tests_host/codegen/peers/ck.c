/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's locks, as functions: for sizes.py.
 */
#include <ck_spinlock.h>

void ticket_lock(ck_spinlock_ticket_t *at) { ck_spinlock_ticket_lock(at); }

void ticket_unlock(ck_spinlock_ticket_t *at) { ck_spinlock_ticket_unlock(at); }

void mcs_lock(ck_spinlock_mcs_t *at, ck_spinlock_mcs_context_t *node)
{
	ck_spinlock_mcs_lock(at, node);
}

void mcs_unlock(ck_spinlock_mcs_t *at, ck_spinlock_mcs_context_t *node)
{
	ck_spinlock_mcs_unlock(at, node);
}
