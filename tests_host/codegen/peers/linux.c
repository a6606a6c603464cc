/* SPDX-License-Identifier: MIT */
/*
 * Linux's generic ticket lock, as functions: for sizes.py, which brings the
 * folders and the few names of a configuration that it asks for.
 */
#include <linux/types.h>

#include <asm/barrier.h>
#include <asm/vdso/processor.h>

#include <asm-generic/spinlock_types.h>

#include <asm-generic/spinlock.h>

void ticket_lock(arch_spinlock_t *at) { arch_spin_lock(at); }

void ticket_unlock(arch_spinlock_t *at) { arch_spin_unlock(at); }
