/* SPDX-License-Identifier: MIT */
/*
 * klock.h - klock's locks for kernels written in C: C11, C17, GCC and clang
 *
 *	static struct klock_ticket_u8 runqueue_lock = KLOCK_TICKET_INIT;
 *
 *	unsigned long flags = klock_ticket_u8_lock_irqsave(&runqueue_lock);
 *	...
 *	klock_ticket_u8_unlock_irqrestore(&runqueue_lock, flags);
 *
 * Include path: lib/c. The code is that of the C++ headers, in libklock.a
 * (lib/c/Makefile), one object per lock: a kernel gets those it uses. Compile
 * both with -flto and it is inlined. These headers include nothing but each
 * other, define no type but their own, and every name begins with klock_ or
 * KLOCK_.
 *
 * The verbs, klock_X_lock() and so on, are explained in verbs.h. Which lock has
 * which, and what it is in C++: lib/docs/embed.md, "C against C++".
 *
 * Readers and writers: readers.h. In debug builds klock_checked_X names every
 * misuse: checked.h; deadlocks of several locks, and who holds what: order.h.
 * Which locks are waited for: counted.h.
 *
 * A structure is the same bytes as the C++ lock, so that C and C++ files of
 * one kernel share it: klock/c_lock.hpp.
 *
 * Context: any; where a handler takes the lock too, by the irqsave pair. An NMI
 * handler may only try_lock. No recursion. Which lock to take, what each costs
 * and guarantees: lib/README.md, and the headers in lib/klock.
 *
 * The members of the structures are the library's.
 */
#pragma once

#include <klock/bakery.h>
#include <klock/checked.h>
#include <klock/checked_readers.h>
#include <klock/counted.h>
#include <klock/once.h>
#include <klock/order.h>
#include <klock/queue.h>
#include <klock/queued.h>
#include <klock/readers.h>
#include <klock/seq.h>
#include <klock/tas.h>
#include <klock/ticket.h>
#include <klock/timeout.h>
#include <klock/verbs.h>
