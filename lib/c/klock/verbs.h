/* SPDX-License-Identifier: MIT */
/*
 * verbs - what can be done with a lock, for klock/klock.h
 *
 * The functions of klock_ticket_u8 have the same names, arguments and results
 * as those of klock_tas: each shape is written once, here, and a lock's header
 * says which of them it has.
 */
#pragma once

#ifdef KLOCK_CACHE_LINE
#error "KLOCK_CACHE_LINE is no parameter: the port alone says what a line is"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The port's cache line. Nothing to be set: the library would lay out a lock in
 * one way and its user in another. A port with another line changes it here,
 * in the one copy that both are compiled with; the library asserts it.
 */
enum { klock_cache_line = 64 };

/* What the library was built from: "0.1.0" */
const char *klock_version(void);

/*
 * This CPU's interrupt flag: for two locks at once, and for what is per CPU.
 * Off, and what it was; back to what it was; whether it is on now.
 */
unsigned long klock_irq_save(void);
void klock_irq_restore(unsigned long before);
int klock_irqs_enabled(void);

/* The CPU's clock, in its own unit; x86: RDTSC. For differences. */
unsigned long long klock_cycles(void);

/*
 * -- The verbs of a lock that is taken alone; x: the kind of lock --
 *
 *	init		a free lock, whatever its memory held: for locks in
 *			allocated memory; a static one has its KLOCK_..._INIT
 *	lock		waits until the caller is the holder
 *	unlock		the holder's alone
 *	is_locked	a hint, old when it arrives
 *	lock_irqsave	interrupts off, then the lock; returns what they were,
 *			for the caller to keep
 *	unlock_irqrestore	unlocks, then interrupts as they were
 */
#define KLOCK_VERBS(x)                                                         \
	void klock_##x##_init(struct klock_##x *lock);                         \
	void klock_##x##_lock(struct klock_##x *lock);                         \
	void klock_##x##_unlock(struct klock_##x *lock);                       \
	int klock_##x##_is_locked(const struct klock_##x *lock);               \
	unsigned long klock_##x##_lock_irqsave(struct klock_##x *lock);        \
	void klock_##x##_unlock_irqrestore(struct klock_##x *lock,             \
					   unsigned long before)

/*
 *	try_lock	1 if taken, 0 if not; never waits, and never fails while
 *			the lock is free
 *	try_lock_irqsave	the same with interrupts off, and *before what
 *			they were; where it fails they are as they were, and
 *			*before is not written
 *	try_lock_until	1 if taken, 0 if klock_cycles() has shown the deadline:
 *			asks again and again, at least once. Nothing is left
 *			behind, but nobody who asks stands in a line: in order,
 *			klock/timeout.h
 *	try_lock_for	the same for so many cycles from now
 */
#define KLOCK_TRY_VERBS(x)                                                     \
	int klock_##x##_try_lock_until(struct klock_##x *lock,                 \
				       unsigned long long deadline);           \
	int klock_##x##_try_lock_for(struct klock_##x *lock,                   \
				     unsigned long long cycles);               \
	int klock_##x##_try_lock(struct klock_##x *lock);                      \
	int klock_##x##_try_lock_irqsave(struct klock_##x *lock,               \
					 unsigned long *before)

/*
 * -- The verbs of a lock that readers share; lock() is its writers' --
 *
 *	lock_shared	waits until the caller reads, perhaps with others
 *	unlock_shared	a reader's
 *	try_lock_shared	1 if it reads now, 0 if a writer is in the way
 *	..._irqsave	the same with interrupts off, as of lock and try_lock
 *	unlock_shared_irqrestore
 */
#define KLOCK_SHARED_VERBS(x)                                                  \
	void klock_##x##_lock_shared(struct klock_##x *lock);                  \
	void klock_##x##_unlock_shared(struct klock_##x *lock);                \
	unsigned long klock_##x##_lock_shared_irqsave(struct klock_##x *lock); \
	void klock_##x##_unlock_shared_irqrestore(struct klock_##x *lock,      \
						  unsigned long before);       \
	int klock_##x##_try_lock_shared(struct klock_##x *lock);               \
	int klock_##x##_try_lock_shared_irqsave(struct klock_##x *lock,        \
						unsigned long *before)

/*	is_contended	whether somebody waits behind the holder: a hint */
#define KLOCK_CONTENDED_VERB(x)                                                \
	int klock_##x##_is_contended(const struct klock_##x *lock)

#ifdef __cplusplus
}
#endif
