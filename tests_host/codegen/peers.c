/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's locks, and with LINUX Linux's generic ticket lock, as
 * functions: for cross_locks.py, which has the include paths and the few names
 * of a configuration that Linux's headers ask for.
 */
#ifndef LINUX

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

#else

#include <linux/types.h>

#include <asm/barrier.h>
#include <asm/vdso/processor.h>

#include <asm-generic/spinlock_types.h>

#include <asm-generic/spinlock.h>

void ticket_lock(arch_spinlock_t *at) { arch_spin_lock(at); }

void ticket_unlock(arch_spinlock_t *at) { arch_spin_unlock(at); }

#endif
