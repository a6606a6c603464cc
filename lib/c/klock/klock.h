/* SPDX-License-Identifier: MIT */
/*
 * klock.h - klock's locks for kernels written in C: C11, C17, GCC and clang
 *
 *	static struct klock_ticket_u8 runqueue_lock = KLOCK_TICKET_INIT;
 *
 *	unsigned long flags = klock_lock_irqsave(&runqueue_lock);
 *	...
 *	klock_unlock_irqrestore(&runqueue_lock, flags);
 *
 * Include path: lib/c. The code is that of the C++ headers, in libklock.a
 * (make -C lib/c help): linked with --gc-sections, a kernel gets what it calls.
 * Compile both with -flto and it is inlined. These headers include nothing but
 * each other, define no type but their own, and every name begins with klock_
 * or KLOCK_.
 *
 * klock_lock() and so on take a lock of any kind: a kernel changes the kind of
 * its lock where it declares it. Behind them is a function of each kind,
 * klock_ticket_u8_lock(). What the verbs do: verbs.h. Which lock has which, and
 * what it is in C++: lib/docs/embed.md, "C against C++".
 *
 * Readers and writers: readers.h. In debug builds klock_checked_X names every
 * misuse, by the caller's file and line: checked.h; deadlocks of several locks,
 * and who holds what: order.h. Which locks are waited for: counted.h. What
 * sleeps: sleep.h; in threads of several priorities: inheriting.h.
 *
 * A structure is the same bytes as the C++ lock, so that C and C++ files of
 * one kernel share it: klock/c_lock.hpp.
 *
 * Context: any; where a handler takes the lock too, by the irqsave pair. A
 * kernel that preempts its threads takes the others by klock_lock_preempt_off()
 * and its like. An NMI handler may only try_lock. No recursion. Which lock to
 * take, what each costs and guarantees: lib/README.md, and the headers in
 * lib/klock.
 *
 * The members of the structures are the library's.
 */
#pragma once

#include <klock/bakery.h>
#include <klock/checked.h>
#include <klock/counted.h>
#include <klock/inheriting.h>
#include <klock/order.h>
#include <klock/queue.h>
#include <klock/readers.h>
#include <klock/recursive.h>
#include <klock/seq.h>
#include <klock/sleep.h>
#include <klock/tas.h>
#include <klock/ticket.h>
#include <klock/verbs.h>

/* -- The verbs for any kind; C++ has klock::as_cpp() of c_lock.hpp -- */
#ifndef __cplusplus

/* A deadline of klock_cycles(), or the end of time. */
static inline unsigned long long klock_deadline_in(unsigned long long cycles)
{
	const unsigned long long klock_now = klock_cycles();
	const unsigned long long klock_end = ~(unsigned long long)0;

	return cycles < klock_end - klock_now ? klock_now + cycles : klock_end;
}

#define KLOCK_CASE(shape, x, f)                                                \
	, struct klock_##x * : klock_##x##_##f,                                \
			       struct klock_checked_##x                        \
				       * : klock_checked_##x##_##f
#define KLOCK_CASE_COUNTED(shape, x, f)                                        \
	, struct klock_counted_##x * : klock_counted_##x##_##f

/* The function f of the lock's kind, which is in the list or is refused. */
#define KLOCK_FIRST(first, ...) first
#define KLOCK_OF(kinds, counted, f, ...)                                       \
	_Generic((KLOCK_FIRST(__VA_ARGS__, 0))kinds(KLOCK_CASE, f)             \
			 counted(KLOCK_CASE_COUNTED, f))(__VA_ARGS__)
#define KLOCK_NO_COUNTED(K, v)

/* clang-format off */
#define klock_init(...) \
	KLOCK_OF(KLOCK_ANY, KLOCK_COUNTED_ALL, init, __VA_ARGS__)
#define klock_is_locked(...) \
	KLOCK_OF(KLOCK_LOCKS, KLOCK_COUNTED_ALL, is_locked, __VA_ARGS__)
#define klock_is_contended(...) \
	KLOCK_OF(KLOCK_CONTENDED, KLOCK_COUNTED_CONTENDED, is_contended, __VA_ARGS__)
#define klock_set_base(...) \
	KLOCK_OF(KLOCK_PROPORTIONALS, KLOCK_NO_COUNTED, set_base, __VA_ARGS__)

/* With _at: the caller's file and line, or code address, as last arguments. */
#define klock_lock_at(...) \
	KLOCK_OF(KLOCK_LOCKS, KLOCK_COUNTED_ALL, lock_at, __VA_ARGS__)
#define klock_lock(...) klock_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_at(...) \
	KLOCK_OF(KLOCK_LOCKS, KLOCK_COUNTED_ALL, unlock_at, __VA_ARGS__)
#define klock_unlock(...) klock_unlock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_irqsave_at(...) \
	KLOCK_OF(KLOCK_ALL, KLOCK_COUNTED_ALL, lock_irqsave_at, __VA_ARGS__)
#define klock_lock_irqsave(...) klock_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_irqrestore_at(...) \
	KLOCK_OF(KLOCK_ALL, KLOCK_COUNTED_ALL, unlock_irqrestore_at, __VA_ARGS__)
#define klock_unlock_irqrestore(...) klock_unlock_irqrestore_at(__VA_ARGS__, KLOCK_HERE)

#define klock_try_lock_at(...) \
	KLOCK_OF(KLOCK_TRIED_LOCKS, KLOCK_COUNTED_ALL, try_lock_at, __VA_ARGS__)
#define klock_try_lock(...) klock_try_lock_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_irqsave_at(...) \
	KLOCK_OF(KLOCK_TRIED, KLOCK_COUNTED_ALL, try_lock_irqsave_at, __VA_ARGS__)
#define klock_try_lock_irqsave(...) klock_try_lock_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_until_at(...) \
	KLOCK_OF(KLOCK_TRIED_LOCKS, KLOCK_COUNTED_ALL, try_lock_until_at, __VA_ARGS__)
#define klock_try_lock_until(...) klock_try_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_for_at(...) \
	KLOCK_OF(KLOCK_TRIED_LOCKS, KLOCK_COUNTED_ALL, try_lock_for_at, __VA_ARGS__)
#define klock_try_lock_for(...) klock_try_lock_for_at(__VA_ARGS__, KLOCK_HERE)

#define klock_lock_shared_at(...) \
	KLOCK_OF(KLOCK_SHARED_LOCKS, KLOCK_COUNTED_READERS, lock_shared_at, __VA_ARGS__)
#define klock_lock_shared(...) klock_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_shared_at(...) \
	KLOCK_OF(KLOCK_SHARED_LOCKS, KLOCK_COUNTED_READERS, unlock_shared_at, __VA_ARGS__)
#define klock_unlock_shared(...) klock_unlock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_shared_irqsave_at(...) \
	KLOCK_OF(KLOCK_READERS, KLOCK_COUNTED_READERS, lock_shared_irqsave_at, __VA_ARGS__)
#define klock_lock_shared_irqsave(...) klock_lock_shared_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_shared_irqrestore_at(...) \
	KLOCK_OF(KLOCK_READERS, KLOCK_COUNTED_READERS, unlock_shared_irqrestore_at, __VA_ARGS__)
#define klock_unlock_shared_irqrestore(...) klock_unlock_shared_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_shared_at(...) \
	KLOCK_OF(KLOCK_SHARED_LOCKS, KLOCK_COUNTED_READERS, try_lock_shared_at, __VA_ARGS__)
#define klock_try_lock_shared(...) klock_try_lock_shared_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_shared_irqsave_at(...) \
	KLOCK_OF(KLOCK_READERS, KLOCK_COUNTED_READERS, try_lock_shared_irqsave_at, __VA_ARGS__)
#define klock_try_lock_shared_irqsave(...) klock_try_lock_shared_irqsave_at(__VA_ARGS__, KLOCK_HERE)

#define klock_downgrade_at(...) \
	KLOCK_OF(KLOCK_DOWNGRADED, KLOCK_COUNTED_READERS, downgrade_at, __VA_ARGS__)
#define klock_downgrade(...) klock_downgrade_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_upgradable_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, lock_upgradable_at, __VA_ARGS__)
#define klock_lock_upgradable(...) klock_lock_upgradable_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_upgradable_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, try_lock_upgradable_at, __VA_ARGS__)
#define klock_try_lock_upgradable(...) klock_try_lock_upgradable_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_upgradable_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, unlock_upgradable_at, __VA_ARGS__)
#define klock_unlock_upgradable(...) klock_unlock_upgradable_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_upgradable_irqsave_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, lock_upgradable_irqsave_at, __VA_ARGS__)
#define klock_lock_upgradable_irqsave(...) klock_lock_upgradable_irqsave_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_upgradable_irqrestore_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, unlock_upgradable_irqrestore_at, __VA_ARGS__)
#define klock_unlock_upgradable_irqrestore(...) klock_unlock_upgradable_irqrestore_at(__VA_ARGS__, KLOCK_HERE)
#define klock_upgrade_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, upgrade_at, __VA_ARGS__)
#define klock_upgrade(...) klock_upgrade_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_upgrade_at(...) \
	KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, try_upgrade_at, __VA_ARGS__)
#define klock_try_upgrade(...) klock_try_upgrade_at(__VA_ARGS__, KLOCK_HERE)

#define klock_lock_irqsave_by_at(...) \
	KLOCK_OF(KLOCK_NODES, KLOCK_NO_COUNTED, lock_irqsave_by_at, __VA_ARGS__)
#define klock_lock_irqsave_by(...) klock_lock_irqsave_by_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_irqrestore_by_at(...) \
	KLOCK_OF(KLOCK_NODES, KLOCK_NO_COUNTED, unlock_irqrestore_by_at, __VA_ARGS__)
#define klock_unlock_irqrestore_by(...) klock_unlock_irqrestore_by_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_from_at(...) \
	KLOCK_OF(KLOCK_QUEUEDS, KLOCK_QUEUEDS, lock_from_at, __VA_ARGS__)
#define klock_lock_from(...) klock_lock_from_at(__VA_ARGS__, KLOCK_HERE)

/* -- Locks whose waiters sleep: sleep.h -- */

#define klock_try_lock_shared_until_at(...) \
	KLOCK_OF(KLOCK_SHARED_MUTEXES, KLOCK_NO_COUNTED, try_lock_shared_until_at, __VA_ARGS__)
#define klock_try_lock_shared_until(...) klock_try_lock_shared_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_shared_for_at(...) \
	KLOCK_OF(KLOCK_SHARED_MUTEXES, KLOCK_NO_COUNTED, try_lock_shared_for_at, __VA_ARGS__)
#define klock_try_lock_shared_for(...) klock_try_lock_shared_for_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_until_at(...) \
	KLOCK_OF(KLOCK_INHERITINGS, KLOCK_NO_COUNTED, lock_until_at, __VA_ARGS__)
#define klock_lock_until(...) klock_lock_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_until_links_at(...) \
	KLOCK_OF(KLOCK_INHERITINGS, KLOCK_NO_COUNTED, lock_until_links_at, __VA_ARGS__)
#define klock_lock_until_links(...) klock_lock_until_links_at(__VA_ARGS__, KLOCK_HERE)
#define klock_owner_died(...) \
	KLOCK_OF(KLOCK_INHERITINGS, KLOCK_NO_COUNTED, owner_died, __VA_ARGS__)
/* Not of klock_lock_until(), whose result is the reason: 0 is `had`. */
#define klock_why_ended(had, deadline) \
	klock_why_ended(_Generic((had), int: (had), _Bool: (had)), deadline)
#define klock_acquire_at(...) \
	KLOCK_OF(KLOCK_SEMAPHORES, KLOCK_NO_COUNTED, acquire_at, __VA_ARGS__)
#define klock_acquire(...) klock_acquire_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_acquire_until_at(...) \
	KLOCK_OF(KLOCK_SEMAPHORES, KLOCK_NO_COUNTED, try_acquire_until_at, __VA_ARGS__)
#define klock_try_acquire_until(...) klock_try_acquire_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_acquire_for_at(...) \
	KLOCK_OF(KLOCK_SEMAPHORES, KLOCK_NO_COUNTED, try_acquire_for_at, __VA_ARGS__)
#define klock_try_acquire_for(...) klock_try_acquire_for_at(__VA_ARGS__, KLOCK_HERE)
#define klock_release_at(...) \
	KLOCK_OF(KLOCK_SEMAPHORES, KLOCK_NO_COUNTED, release_at, __VA_ARGS__)
#define klock_release(...) klock_release_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_acquire_at(...) \
	KLOCK_OF(KLOCK_SEMAPHORES, KLOCK_NO_COUNTED, try_acquire_at, __VA_ARGS__)
#define klock_try_acquire(...) klock_try_acquire_at(__VA_ARGS__, KLOCK_HERE)
#define klock_wait_at(...) \
	KLOCK_OF(KLOCK_WAITED_FOR, KLOCK_NO_COUNTED, wait_at, __VA_ARGS__)
#define klock_wait(...) klock_wait_at(__VA_ARGS__, KLOCK_HERE)
#define klock_wait_until_at(...) \
	KLOCK_OF(KLOCK_WAITED_FOR, KLOCK_NO_COUNTED, wait_until_at, __VA_ARGS__)
#define klock_wait_until(...) klock_wait_until_at(__VA_ARGS__, KLOCK_HERE)
#define klock_wait_for_at(...) \
	KLOCK_OF(KLOCK_WAITED_FOR, KLOCK_NO_COUNTED, wait_for_at, __VA_ARGS__)
#define klock_wait_for(...) klock_wait_for_at(__VA_ARGS__, KLOCK_HERE)
#define klock_set_at(...) \
	KLOCK_OF(KLOCK_COMPLETIONS, KLOCK_NO_COUNTED, set_at, __VA_ARGS__)
#define klock_set(...) klock_set_at(__VA_ARGS__, KLOCK_HERE)
#define klock_reset_at(...) \
	KLOCK_OF(KLOCK_COMPLETIONS, KLOCK_NO_COUNTED, reset_at, __VA_ARGS__)
#define klock_reset(...) klock_reset_at(__VA_ARGS__, KLOCK_HERE)
#define klock_is_set_at(...) \
	KLOCK_OF(KLOCK_COMPLETIONS, KLOCK_NO_COUNTED, is_set_at, __VA_ARGS__)
#define klock_is_set(...) klock_is_set_at(__VA_ARGS__, KLOCK_HERE)
#define klock_wake_one_at(...) \
	KLOCK_OF(KLOCK_WAIT_QUEUES, KLOCK_NO_COUNTED, wake_one_at, __VA_ARGS__)
#define klock_wake_one(...) klock_wake_one_at(__VA_ARGS__, KLOCK_HERE)
#define klock_wake_all_at(...) \
	KLOCK_OF(KLOCK_WAIT_QUEUES, KLOCK_NO_COUNTED, wake_all_at, __VA_ARGS__)
#define klock_wake_all(...) klock_wake_all_at(__VA_ARGS__, KLOCK_HERE)
#define klock_notify_one_at(...) \
	KLOCK_OF(KLOCK_CONDITIONS, KLOCK_NO_COUNTED, notify_one_at, __VA_ARGS__)
#define klock_notify_one(...) klock_notify_one_at(__VA_ARGS__, KLOCK_HERE)
#define klock_notify_all_at(...) \
	KLOCK_OF(KLOCK_CONDITIONS, KLOCK_NO_COUNTED, notify_all_at, __VA_ARGS__)
#define klock_notify_all(...) klock_notify_all_at(__VA_ARGS__, KLOCK_HERE)
#define klock_prepare_at(...) \
	KLOCK_OF(KLOCK_CONDITIONS, KLOCK_NO_COUNTED, prepare_at, __VA_ARGS__)
#define klock_prepare(...) klock_prepare_at(__VA_ARGS__, KLOCK_HERE)
#define klock_sleep_at(...) \
	KLOCK_OF(KLOCK_CONDITIONS, KLOCK_NO_COUNTED, sleep_at, __VA_ARGS__)
#define klock_sleep(...) klock_sleep_at(__VA_ARGS__, KLOCK_HERE)

/*
 * Waits for a condition, without the lock that the caller holds, of any kind,
 * with the arguments that klock_lock() takes; the caller then looks again.
 * _irqsave: flags: a variable, of klock_lock_irqsave(). _until, _for: 0 if
 * nobody has notified it by then, or for so many cycles. _preempt_off: of klock_lock_preempt_off(), below; on
 * while it sleeps. Each evaluates its arguments twice.
 */
#define klock_wait_with(condition, ...) \
	((void)KLOCK_SLEEP_BETWEEN(condition, 0, klock_unlock(__VA_ARGS__), \
				   klock_lock(__VA_ARGS__)))
#define klock_wait_with_until(condition, deadline, ...) \
	KLOCK_SLEEP_BETWEEN(condition, (&(unsigned long long){deadline}), \
			    klock_unlock(__VA_ARGS__), klock_lock(__VA_ARGS__))
#define klock_wait_with_for(condition, cycles, ...) \
	klock_wait_with_until(condition, klock_deadline_in(cycles), __VA_ARGS__)
#define klock_wait_with_irqsave(condition, flags, ...) \
	((void)KLOCK_SLEEP_BETWEEN( \
		condition, 0, klock_unlock_irqrestore(__VA_ARGS__, flags), \
		(flags) = klock_lock_irqsave(__VA_ARGS__)))
#define klock_wait_with_irqsave_until(condition, deadline, flags, ...) \
	KLOCK_SLEEP_BETWEEN(condition, (&(unsigned long long){deadline}), \
			    klock_unlock_irqrestore(__VA_ARGS__, flags), \
			    (flags) = klock_lock_irqsave(__VA_ARGS__))
#define klock_wait_with_irqsave_for(condition, cycles, flags, ...) \
	klock_wait_with_irqsave_until(condition, klock_deadline_in(cycles), flags, __VA_ARGS__)
#define klock_wait_with_preempt_off(condition, ...) \
	((void)KLOCK_SLEEP_BETWEEN(condition, 0, klock_unlock_preempt_on(__VA_ARGS__), \
				   klock_lock_preempt_off(__VA_ARGS__)))
#define klock_wait_with_preempt_off_until(condition, deadline, ...) \
	KLOCK_SLEEP_BETWEEN(condition, (&(unsigned long long){deadline}), \
			    klock_unlock_preempt_on(__VA_ARGS__), \
			    klock_lock_preempt_off(__VA_ARGS__))
#define klock_wait_with_preempt_off_for(condition, cycles, ...) \
	klock_wait_with_preempt_off_until(condition, klock_deadline_in(cycles), __VA_ARGS__)
#define KLOCK_SLEEP_BETWEEN(condition, until, let_go, take_back) \
	__extension__({ \
		struct klock_sleeper klock_me; \
		int klock_told; \
		klock_prepare(condition, &klock_me); \
		let_go; \
		klock_told = klock_sleep(condition, &klock_me, until); \
		take_back; \
		klock_told; \
	})
/* clang-format on */

/*
 * -- With preemption off: for a kernel that preempts its threads --
 *
 *	klock_lock_preempt_off(&runqueue_lock);
 *	...
 *	klock_unlock_preempt_on(&runqueue_lock);
 *
 * Preemption goes off before the lock is touched, and on after it is free; if a
 * try fails, at once. The other arguments, a node or a number, are asked
 * between. Locks whose waiters sleep are refused. The kernel supplies the two
 * functions: lib/preempted/klock/detail/taking.hpp has their contract, and says
 * why in that order.
 */
void klock_os_preempt_off(void);
void klock_os_preempt_on(void);

__attribute__((warn_unused_result)) static inline int
klock_preempt_on_unless(int klock_taken)
{
	if (!klock_taken)
		klock_os_preempt_on();
	return klock_taken;
}

/* clang-format off */
#define klock_lock_preempt_off_at(...) \
	(klock_os_preempt_off(), \
	 KLOCK_OF(KLOCK_ALL, KLOCK_COUNTED_ALL, lock_at, __VA_ARGS__))
#define klock_lock_preempt_off(...) klock_lock_preempt_off_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_preempt_on_at(...) \
	(KLOCK_OF(KLOCK_ALL, KLOCK_COUNTED_ALL, unlock_at, __VA_ARGS__), \
	 klock_os_preempt_on())
#define klock_unlock_preempt_on(...) klock_unlock_preempt_on_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_preempt_off_at(...) \
	(klock_os_preempt_off(), \
	 klock_preempt_on_unless(KLOCK_OF(KLOCK_TRIED, KLOCK_COUNTED_ALL, try_lock_at, __VA_ARGS__)))
#define klock_try_lock_preempt_off(...) klock_try_lock_preempt_off_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_shared_preempt_off_at(...) \
	(klock_os_preempt_off(), \
	 KLOCK_OF(KLOCK_READERS, KLOCK_COUNTED_READERS, lock_shared_at, __VA_ARGS__))
#define klock_lock_shared_preempt_off(...) klock_lock_shared_preempt_off_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_shared_preempt_on_at(...) \
	(KLOCK_OF(KLOCK_READERS, KLOCK_COUNTED_READERS, unlock_shared_at, __VA_ARGS__), \
	 klock_os_preempt_on())
#define klock_unlock_shared_preempt_on(...) klock_unlock_shared_preempt_on_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_shared_preempt_off_at(...) \
	(klock_os_preempt_off(), \
	 klock_preempt_on_unless(KLOCK_OF(KLOCK_READERS, KLOCK_COUNTED_READERS, try_lock_shared_at, __VA_ARGS__)))
#define klock_try_lock_shared_preempt_off(...) klock_try_lock_shared_preempt_off_at(__VA_ARGS__, KLOCK_HERE)
#define klock_lock_upgradable_preempt_off_at(...) \
	(klock_os_preempt_off(), \
	 KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, lock_upgradable_at, __VA_ARGS__))
#define klock_lock_upgradable_preempt_off(...) klock_lock_upgradable_preempt_off_at(__VA_ARGS__, KLOCK_HERE)
#define klock_try_lock_upgradable_preempt_off_at(...) \
	(klock_os_preempt_off(), \
	 klock_preempt_on_unless(KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, try_lock_upgradable_at, __VA_ARGS__)))
#define klock_try_lock_upgradable_preempt_off(...) klock_try_lock_upgradable_preempt_off_at(__VA_ARGS__, KLOCK_HERE)
#define klock_unlock_upgradable_preempt_on_at(...) \
	(KLOCK_OF(KLOCK_UPGRADABLES, KLOCK_NO_COUNTED, unlock_upgradable_at, __VA_ARGS__), \
	 klock_os_preempt_on())
#define klock_unlock_upgradable_preempt_on(...) klock_unlock_upgradable_preempt_on_at(__VA_ARGS__, KLOCK_HERE)
/* clang-format on */

#endif
