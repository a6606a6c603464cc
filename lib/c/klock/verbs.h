/* SPDX-License-Identifier: MIT */
/*
 * verbs - what can be done with a lock, for klock/klock.h
 *
 * The functions of klock_ticket_u8 have the same names, arguments and results
 * as those of klock_tas. Those of each kind of lock are a shape, which is made
 * of C++'s list of verbs; the list of all kinds is written here. Declarations,
 * the library's definitions and the verbs for every kind (klock_lock() and so
 * on, klock.h) are made of both.
 */
#pragma once

#ifdef KLOCK_CACHE_LINE
#error "KLOCK_CACHE_LINE is no parameter: the port alone says what a line is"
#endif

#if __SIZEOF_POINTER__ < 4
#error "klock is for CPUs of 32 and 64 bits"
#endif

#ifndef __cplusplus
struct klock_not_packed {
	char klock_one;
	long klock_two;
};
typedef char klock_end_pragma_pack_before_these_headers
	[sizeof(struct klock_not_packed) == sizeof(long) + _Alignof(long) ? 1
									  : -1];
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

/* The library was built from version "0.4.0" */
const char *klock_version(void);

/*
 * This CPU's interrupt flag, for two locks at once and for data of one CPU:
 * turns it off and returns what it was; restores it; returns whether it is on.
 */
unsigned long klock_irq_save(void);
void klock_irq_restore(unsigned long before);
int klock_irqs_enabled(void);

/*
 * Counted disabling of interrupts, for locks that are released in any order:
 * the first push turns them off, the last pop restores what the first push
 * found. The count belongs to the thread: a scheduler that switches with a lock
 * held saves it across the switch. More: klock/irq_depth.hpp.
 */
void klock_push_off(void);
void klock_pop_off(void);
unsigned klock_push_depth(void);
unsigned long klock_irqs_before_push(void);
void klock_set_irqs_before_push(unsigned long before);

/* One CPU's count, two words; zero at first. */
struct __attribute__((may_alias)) klock_irq_depth {
	unsigned long klock_before;
	unsigned int klock_depth;
};

/* The kernel supplies it: this CPU's count (klock/os.hpp). */
#ifndef __cplusplus
struct klock_irq_depth *klock_os_irq_depth(void);
#endif

/* The CPU's clock, in its own unit; x86: RDTSC. For differences. */
unsigned long long klock_cycles(void);

/* A panic if klock's variables lie at the kernel's end or above, because its
 * linker script names *(.bss) and not *(.bss.*): klock/placed.hpp. */
void klock_check_placed(const void *end);

/*
 * The code address that a checked lock takes for its caller's file and line:
 *
 *	klock_lock_at(lock, __builtin_return_address(0), KLOCK_CODE)
 */
#define KLOCK_CODE (-1)
#define KLOCK_HERE __FILE__, __LINE__

/* -- A function: V(x, result, verb, parameters, arguments) -- */

/* The arguments, without their brackets. */
#define KLOCK_LIST(...) __VA_ARGS__

#define KLOCK_TYPE_NONE void
#define KLOCK_TYPE_TRUTH int
#define KLOCK_TYPE_TOLD int
#define KLOCK_TYPE_FLAGS unsigned long
#define KLOCK_TYPE_WHY enum klock_wait_result
/* A result must be used: it says whether a lock is held, or what flags were.
 * Not that of a sleep, which may have no deadline. */
#define KLOCK_RESULT_NONE
#define KLOCK_RESULT_TRUTH __attribute__((warn_unused_result))
#define KLOCK_RESULT_TOLD
#define KLOCK_RESULT_FLAGS __attribute__((warn_unused_result))
#define KLOCK_RESULT_WHY __attribute__((warn_unused_result))
#define KLOCK_RETURN_NONE
#define KLOCK_RETURN_TRUTH return
#define KLOCK_RETURN_TOLD return
#define KLOCK_RETURN_FLAGS return
#define KLOCK_RETURN_WHY return

#define KLOCK_DECLARE(x, result, verb, p, a)                                   \
	KLOCK_RESULT_##result KLOCK_TYPE_##result klock_##x##_##verb p;

/* A checked lock's: the first notes the address that it returns to. */
#define KLOCK_DECLARE_AT(x, result, verb, p, a)                                \
	KLOCK_RESULT_##result KLOCK_TYPE_##result klock_##x##_##verb p;        \
	KLOCK_RESULT_##result KLOCK_TYPE_##result klock_##x##_##verb##_at(     \
		KLOCK_LIST p, const char *file, int line);

/* An unchecked lock's, which does not note its caller. */
#ifdef __cplusplus
#define KLOCK_DECLARE_PLAIN KLOCK_DECLARE
#else
#define KLOCK_DECLARE_PLAIN(x, result, verb, p, a)                             \
	KLOCK_RESULT_##result KLOCK_TYPE_##result klock_##x##_##verb p;        \
	KLOCK_RESULT_##result static inline KLOCK_TYPE_##result                \
		klock_##x##_##verb##_at(KLOCK_LIST p, const char *file,        \
					int line)                              \
	{                                                                      \
		(void)file;                                                    \
		(void)line;                                                    \
		KLOCK_RETURN_##result klock_##x##_##verb a;                    \
	}
#endif

/*
 * -- The verbs of locks. Their arguments are the lock, and its kind's node or
 * CPU's number; with interrupts off, a function that returns the number, called
 * after they went off --
 *
 *	init		makes a free lock, whatever its memory held: for locks
 *			in allocated memory; a static one has its KLOCK_..._INIT
 *	is_locked	a hint, stale on arrival
 *	is_contended	whether somebody waits behind the holder: a hint; if the
 *			kind has nodes, called by the holder, with its node
 *
 *	lock		waits until the caller is the holder
 *	unlock		only the holder may call it
 *	lock_irqsave	disables interrupts, then locks; returns the flags from
 *			before, which the caller keeps
 *	unlock_irqrestore	unlocks, then restores interrupts
 *	lock_irqsave_by, unlock_irqrestore_by	mine(), called with interrupts
 *			off, finds the caller's node
 *
 *	try_lock	1 if taken, 0 if not; never waits, and never fails while
 *			the lock is free
 *	try_lock_irqsave	the same with interrupts off; *before is the
 *			flags from before. If it fails, interrupts are restored,
 *			and *before is not written
 *	try_lock_until	1 if taken, 0 if klock_cycles() has shown the deadline:
 *			tries again and again, at least once. It is in no queue:
 *			it leaves nothing behind, but there is no order. The
 *			timeout locks of bakery.h, and locks whose waiters
 *			sleep, have a queue
 *	try_lock_for	the same for that many cycles from now
 *
 * Readers' verbs of a shared lock; its writers use lock():
 *
 *	lock_shared	waits until the caller reads, perhaps with others
 *	unlock_shared	only a reader may call it
 *	try_lock_shared	1 if it reads now, 0 if a writer holds it or waits
 *	..._irqsave	as lock_irqsave and try_lock_irqsave
 *	unlock_shared_irqrestore
 *	downgrade	the writer becomes a reader, and leaves by
 *			unlock_shared; no writer comes between
 *
 * Verbs of a reader that may write: one at a time, beside other readers.
 *
 *	lock_upgradable	waits for writers; on return the caller reads
 *	try_lock_upgradable	1 if it reads now, 0 if a writer or another
 *			upgradable reader holds it or waits
 *	unlock_upgradable	called by it, if it has not upgraded
 *	upgrade		waits for the readers inside; on return the caller is
 *			the writer, and what it read before is still valid. It
 *			leaves by unlock or downgrade
 *	try_upgrade	1 if it writes now; 0 if a reader is inside: the caller
 *			still reads
 *	..._irqsave	as lock_irqsave. After an upgrade it leaves by
 *			unlock_irqrestore
 *
 * Verbs of a mutex whose owner inherits the priority of its waiters.
 *
 *	lock_until	lock, by a deadline: returns why the wait ended
 *			(sleep.h); the caller holds it only after klock_wait_had
 *	lock_until_links	the same; if it returns klock_wait_deadlock or
 *			klock_wait_too_deep, link(thread, mutex, with) was
 *			called for each thread that waits, under a spin lock,
 *			with interrupts off (link: null: it is not called)
 *	owner_died	for the holder: 1 if a thread that ended held it before
 */

/* Functions that C alone has, which begin with a verb's name. */
#define KLOCK_ALONE_NODE(V, x, node)                                           \
	V(x, FLAGS, lock_irqsave_by,                                           \
	  (struct klock_##x * lock, struct node * (*mine)(void)),              \
	  (lock, mine))                                                        \
	V(x, NONE, unlock_irqrestore_by,                                       \
	  (struct klock_##x * lock, struct node * (*mine)(void),               \
	   unsigned long before),                                              \
	  (lock, mine, before))
#define KLOCK_ALONE_MCS(V, x) KLOCK_ALONE_NODE(V, x, klock_mcs_node)
#define KLOCK_ALONE_CLH(V, x) KLOCK_ALONE_NODE(V, x, klock_clh_node)
#define KLOCK_ALONE_INHERITING(V, x)                                           \
	V(x, WHY, lock_until_links,                                            \
	  (struct klock_##x * lock, unsigned long long deadline,               \
	   void (*link)(const struct klock_inheriting_thread *thread,          \
			const void *mutex, void *with),                        \
	   void *with),                                                        \
	  (lock, deadline, link, with))

/*
 * -- Shapes: all functions of a kind of lock. D: of those that note no caller.
 * Made of C++'s list, klock/detail/verbs.hpp, and of the types of the kinds in
 * c_lock.hpp --
 */
/* clang-format off */
/* shapes: begin (generated by tests_host/embed/verbs.py) */
#define KLOCK_SHAPE_PADDED(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock), (lock)) \
	V(x, FLAGS, lock_irqsave, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock_irqrestore, \
	  (struct klock_##x *lock, unsigned long before), \
	  (lock, before)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock)) \
	D(x, TRUTH, is_contended, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_CLH(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock, struct klock_clh_node *mine), (lock, mine)) \
	V(x, FLAGS, lock_irqsave, \
	  (struct klock_##x *lock, struct klock_clh_node *nodes, unsigned (*cpu_id)(void)), \
	  (lock, nodes, cpu_id)) \
	V(x, NONE, unlock, \
	  (struct klock_##x *lock, struct klock_clh_node *mine), \
	  (lock, mine)) \
	V(x, NONE, unlock_irqrestore, \
	  (struct klock_##x *lock, struct klock_clh_node *nodes, unsigned (*cpu_id)(void), unsigned long before), \
	  (lock, nodes, cpu_id, before)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock)) \
	D(x, TRUTH, is_contended, \
	  (const struct klock_##x *lock, const struct klock_clh_node *mine), \
	  (lock, mine)) \
	KLOCK_ALONE_CLH(V, x)
#define KLOCK_SHAPE_BAKERY(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock, unsigned cpu), (lock, cpu)) \
	V(x, FLAGS, lock_irqsave, \
	  (struct klock_##x *lock, unsigned (*cpu_id)(void)), \
	  (lock, cpu_id)) \
	V(x, NONE, unlock, (struct klock_##x *lock, unsigned cpu), (lock, cpu)) \
	V(x, NONE, unlock_irqrestore, \
	  (struct klock_##x *lock, unsigned (*cpu_id)(void), unsigned long before), \
	  (lock, cpu_id, before)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock)) \
	D(x, TRUTH, is_contended, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_MUTEX(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_until, \
	  (struct klock_##x *lock, unsigned long long deadline), \
	  (lock, deadline)) \
	V(x, TRUTH, try_lock_for, \
	  (struct klock_##x *lock, unsigned long long cycles), \
	  (lock, cycles)) \
	V(x, NONE, unlock, (struct klock_##x *lock), (lock)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock)) \
	D(x, TRUTH, is_contended, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_TAS(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock), (lock)) \
	V(x, FLAGS, lock_irqsave, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_irqsave, \
	  (struct klock_##x *lock, unsigned long *before), \
	  (lock, before)) \
	V(x, TRUTH, try_lock_until, \
	  (struct klock_##x *lock, unsigned long long deadline), \
	  (lock, deadline)) \
	V(x, TRUTH, try_lock_for, \
	  (struct klock_##x *lock, unsigned long long cycles), \
	  (lock, cycles)) \
	V(x, NONE, unlock, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock_irqrestore, \
	  (struct klock_##x *lock, unsigned long before), \
	  (lock, before)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_INHERITING(V, D, x) \
	KLOCK_SHAPE_MUTEX(V, D, x) \
	V(x, WHY, lock_until, \
	  (struct klock_##x *lock, unsigned long long deadline), \
	  (lock, deadline)) \
	D(x, TRUTH, owner_died, (const struct klock_##x *lock), (lock)) \
	KLOCK_ALONE_INHERITING(V, x)
#define KLOCK_SHAPE_TICKET(V, D, x) \
	KLOCK_SHAPE_TAS(V, D, x) \
	D(x, TRUTH, is_contended, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_MCS(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock, struct klock_mcs_node *mine), (lock, mine)) \
	V(x, FLAGS, lock_irqsave, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine), \
	  (lock, mine)) \
	V(x, TRUTH, try_lock, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine), \
	  (lock, mine)) \
	V(x, TRUTH, try_lock_irqsave, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine, unsigned long *before), \
	  (lock, mine, before)) \
	V(x, NONE, unlock, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine), \
	  (lock, mine)) \
	V(x, NONE, unlock_irqrestore, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine, unsigned long before), \
	  (lock, mine, before)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock)) \
	D(x, TRUTH, is_contended, \
	  (const struct klock_##x *lock, const struct klock_mcs_node *mine), \
	  (lock, mine)) \
	V(x, TRUTH, try_lock_until, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine, unsigned long long deadline), \
	  (lock, mine, deadline)) \
	V(x, TRUTH, try_lock_for, \
	  (struct klock_##x *lock, struct klock_mcs_node *mine, unsigned long long cycles), \
	  (lock, mine, cycles)) \
	KLOCK_ALONE_MCS(V, x)
#define KLOCK_SHAPE_TIMEOUT(V, D, x) \
	KLOCK_SHAPE_BAKERY(V, D, x) \
	V(x, TRUTH, try_lock, (struct klock_##x *lock, unsigned cpu), (lock, cpu)) \
	V(x, TRUTH, try_lock_irqsave, \
	  (struct klock_##x *lock, unsigned (*cpu_id)(void), unsigned long *before), \
	  (lock, cpu_id, before)) \
	V(x, TRUTH, try_lock_until, \
	  (struct klock_##x *lock, unsigned cpu, unsigned long long deadline), \
	  (lock, cpu, deadline)) \
	V(x, TRUTH, try_lock_for, \
	  (struct klock_##x *lock, unsigned cpu, unsigned long long cycles), \
	  (lock, cpu, cycles))
#define KLOCK_SHAPE_PROPORTIONAL(V, D, x) \
	KLOCK_SHAPE_TICKET(V, D, x) \
	D(x, NONE, set_base, (struct klock_##x *lock, unsigned int base), (lock, base))
#define KLOCK_SHAPE_QUEUED(V, D, x) \
	KLOCK_SHAPE_TICKET(V, D, x) \
	V(x, NONE, lock_from, (struct klock_##x *lock, unsigned cpu), (lock, cpu))
#define KLOCK_SHAPE_READER(V, D, x) \
	D(x, NONE, init, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock, (struct klock_##x *lock), (lock)) \
	V(x, FLAGS, lock_irqsave, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock_irqrestore, \
	  (struct klock_##x *lock, unsigned long before), \
	  (lock, before)) \
	V(x, NONE, lock_shared, (struct klock_##x *lock, unsigned cpu), (lock, cpu)) \
	V(x, FLAGS, lock_shared_irqsave, \
	  (struct klock_##x *lock, unsigned (*cpu_id)(void)), \
	  (lock, cpu_id)) \
	V(x, TRUTH, try_lock_shared, (struct klock_##x *lock, unsigned cpu), (lock, cpu)) \
	V(x, TRUTH, try_lock_shared_irqsave, \
	  (struct klock_##x *lock, unsigned (*cpu_id)(void), unsigned long *before), \
	  (lock, cpu_id, before)) \
	V(x, NONE, unlock_shared, (struct klock_##x *lock, unsigned cpu), (lock, cpu)) \
	V(x, NONE, unlock_shared_irqrestore, \
	  (struct klock_##x *lock, unsigned (*cpu_id)(void), unsigned long before), \
	  (lock, cpu_id, before)) \
	D(x, TRUTH, is_locked, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_SHARED_MUTEX(V, D, x) \
	KLOCK_SHAPE_MUTEX(V, D, x) \
	V(x, NONE, downgrade, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock_shared, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_shared, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_shared_until, \
	  (struct klock_##x *lock, unsigned long long deadline), \
	  (lock, deadline)) \
	V(x, TRUTH, try_lock_shared_for, \
	  (struct klock_##x *lock, unsigned long long cycles), \
	  (lock, cycles)) \
	V(x, NONE, unlock_shared, (struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_READERS(V, D, x) \
	KLOCK_SHAPE_TAS(V, D, x) \
	V(x, NONE, downgrade, (struct klock_##x *lock), (lock)) \
	V(x, NONE, lock_shared, (struct klock_##x *lock), (lock)) \
	V(x, FLAGS, lock_shared_irqsave, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_shared, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_shared_irqsave, \
	  (struct klock_##x *lock, unsigned long *before), \
	  (lock, before)) \
	V(x, NONE, unlock_shared, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock_shared_irqrestore, \
	  (struct klock_##x *lock, unsigned long before), \
	  (lock, before))
#define KLOCK_SHAPE_UPGRADABLE(V, D, x) \
	KLOCK_SHAPE_READERS(V, D, x) \
	V(x, NONE, lock_upgradable, (struct klock_##x *lock), (lock)) \
	V(x, FLAGS, lock_upgradable_irqsave, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_lock_upgradable, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock_upgradable, (struct klock_##x *lock), (lock)) \
	V(x, NONE, unlock_upgradable_irqrestore, \
	  (struct klock_##x *lock, unsigned long before), \
	  (lock, before)) \
	V(x, NONE, upgrade, (struct klock_##x *lock), (lock)) \
	V(x, TRUTH, try_upgrade, (struct klock_##x *lock), (lock))
/* shapes: end */
/* clang-format on */

/*
 * -- Events that threads wait for, whose functions differ from C++'s --
 *
 * ready(with) and change(with) run under a spin lock, with interrupts off. A
 * wait with a deadline returns 0 if the event was not there by then.
 *
 *	wait		waits until it is set, or until ready(with) is not 0
 *	wake_one, wake_all	call change(with), which makes ready(with) true
 *	prepare, sleep	the parts of klock_wait_with(), for a condition: the
 *			caller looks at its data with their lock held, and
 *			releases it between them. until: null: no deadline. In
 *			this order, in one thread: condition.hpp
 */
#define KLOCK_TIMED_VERBS(V, x, verb, p, a)                                    \
	V(x, TRUTH, verb##_until, (KLOCK_LIST p, unsigned long long deadline), \
	  (KLOCK_LIST a, deadline))                                            \
	V(x, TRUTH, verb##_for, (KLOCK_LIST p, unsigned long long cycles),     \
	  (KLOCK_LIST a, cycles))
#define KLOCK_WAIT_VERBS(V, x, p, a)                                           \
	V(x, NONE, wait, p, a)                                                 \
	KLOCK_TIMED_VERBS(V, x, wait, p, a)

#define KLOCK_SHAPE_SEMAPHORE(V, D, x)                                         \
	D(x, NONE, init, (struct klock_##x * lock, unsigned units),            \
	  (lock, units))                                                       \
	V(x, NONE, acquire, (struct klock_##x * lock), (lock))                 \
	KLOCK_TIMED_VERBS(V, x, try_acquire, (struct klock_##x * lock),        \
			  (lock))                                              \
	V(x, TRUTH, try_acquire, (struct klock_##x * lock), (lock))            \
	V(x, NONE, release, (struct klock_##x * lock), (lock))
#define KLOCK_SHAPE_COMPLETION(V, D, x)                                        \
	D(x, NONE, init, (struct klock_##x * lock), (lock))                    \
	KLOCK_WAIT_VERBS(V, x, (struct klock_##x * lock), (lock))              \
	V(x, NONE, set, (struct klock_##x * lock), (lock))                     \
	V(x, NONE, reset, (struct klock_##x * lock), (lock))                   \
	V(x, TRUTH, is_set, (struct klock_##x * lock), (lock))                 \
	D(x, TRUTH, is_contended, (const struct klock_##x *lock), (lock))
#define KLOCK_SHAPE_CONDITION(V, D, x)                                         \
	D(x, NONE, init, (struct klock_##x * lock), (lock))                    \
	V(x, NONE, prepare,                                                    \
	  (struct klock_##x * lock, struct klock_sleeper * me), (lock, me))    \
	V(x, TOLD, sleep,                                                      \
	  (struct klock_##x * lock, struct klock_sleeper * me,                 \
	   const unsigned long long *until),                                   \
	  (lock, me, until))                                                   \
	V(x, NONE, notify_one, (struct klock_##x * lock), (lock))              \
	V(x, NONE, notify_all, (struct klock_##x * lock), (lock))
#define KLOCK_SHAPE_WAIT_QUEUE(V, D, x)                                        \
	D(x, NONE, init, (struct klock_##x * lock), (lock))                    \
	KLOCK_WAIT_VERBS(                                                      \
		V, x,                                                          \
		(struct klock_##x * lock, int (*ready)(void *), void *with),   \
		(lock, ready, with))                                           \
	V(x, NONE, wake_one,                                                   \
	  (struct klock_##x * lock, void (*change)(void *), void *with),       \
	  (lock, change, with))                                                \
	V(x, NONE, wake_all,                                                   \
	  (struct klock_##x * lock, void (*change)(void *), void *with),       \
	  (lock, change, with))

/* -- The list of all kinds: K(shape, x, v) -- */

#define KLOCK_PROPORTIONALS(K, v)                                              \
	K(PROPORTIONAL, proportional_ticket_u8, v)                             \
	K(PROPORTIONAL, proportional_ticket_u16, v)                            \
	K(PROPORTIONAL, proportional_ticket_u32, v)
#define KLOCK_TRIED_TICKETS(K, v)                                              \
	K(TICKET, ticket_u8, v)                                                \
	K(TICKET, ticket_u16, v)                                               \
	K(TICKET, ticket_u32, v)                                               \
	K(TICKET, preemptable_ticket_u8, v)                                    \
	K(TICKET, preemptable_ticket_u16, v)                                   \
	K(TICKET, narrow_ticket_2, v)                                          \
	K(TICKET, narrow_ticket_3, v)                                          \
	K(TICKET, narrow_ticket_4, v)                                          \
	KLOCK_PROPORTIONALS(K, v)
#define KLOCK_TICKETS(K, v)                                                    \
	KLOCK_TRIED_TICKETS(K, v)                                              \
	K(PADDED, padded_ticket_u8, v)                                         \
	K(PADDED, padded_ticket_u16, v)                                        \
	K(PADDED, padded_ticket_u32, v)
#define KLOCK_TASES(K, v)                                                      \
	K(TAS, tas, v)                                                         \
	K(TAS, tas_u32, v)                                                     \
	K(TAS, ttas, v)                                                        \
	K(TAS, ttas_u32, v)                                                    \
	K(TAS, backoff_ttas, v)
#define KLOCK_RECURSIVES(K, v)                                                 \
	K(TICKET, recursive_ticket_u8, v)                                      \
	K(TICKET, recursive_ticket_u16, v)                                     \
	K(TICKET, recursive_preemptable_ticket_u8, v)                          \
	K(TICKET, recursive_preemptable_ticket_u16, v)
#define KLOCK_QUEUEDS(K, v)                                                    \
	K(QUEUED, queued_64, v)                                                \
	K(QUEUED, queued_256, v)
#define KLOCK_NODES(K, v)                                                      \
	K(MCS, mcs, v)                                                         \
	K(CLH, clh, v)
#define KLOCK_TIMEOUTS(K, v)                                                   \
	K(TIMEOUT, timeout_8, v)                                               \
	K(TIMEOUT, timeout_64, v)
#define KLOCK_BAKERIES(K, v)                                                   \
	K(BAKERY, bakery_4, v)                                                 \
	K(BAKERY, bakery_8, v)                                                 \
	K(BAKERY, bakery_16, v)                                                \
	K(BAKERY, bakery_32, v)                                                \
	K(BAKERY, bakery_64, v)
#define KLOCK_UPGRADABLES(K, v)                                                \
	K(UPGRADABLE, phase_fair_u8, v)                                        \
	K(UPGRADABLE, phase_fair_u16, v)
#define KLOCK_TRIED_READERS(K, v)                                              \
	K(READERS, rw_ticket_u8, v)                                            \
	K(READERS, rw_ticket_u16, v)                                           \
	KLOCK_UPGRADABLES(K, v)
#define KLOCK_READERS(K, v)                                                    \
	KLOCK_TRIED_READERS(K, v)                                              \
	K(READER, reader_8, v)                                                 \
	K(READER, reader_64, v)                                                \
	K(READER, reader_256, v)

#define KLOCK_MUTEXES(K, v) K(MUTEX, mutex, v)
#define KLOCK_SHARED_MUTEXES(K, v) K(SHARED_MUTEX, shared_mutex, v)
#define KLOCK_INHERITINGS(K, v) K(INHERITING, inheriting_mutex, v)
#define KLOCK_SLEEPING_LOCKS(K, v)                                             \
	KLOCK_MUTEXES(K, v)                                                    \
	KLOCK_SHARED_MUTEXES(K, v)                                             \
	KLOCK_INHERITINGS(K, v)
#define KLOCK_SEMAPHORES(K, v) K(SEMAPHORE, semaphore, v)
#define KLOCK_COMPLETIONS(K, v) K(COMPLETION, completion, v)
#define KLOCK_CONDITIONS(K, v) K(CONDITION, condition, v)
#define KLOCK_WAIT_QUEUES(K, v) K(WAIT_QUEUE, wait_queue, v)
#define KLOCK_WAITED_FOR(K, v)                                                 \
	KLOCK_COMPLETIONS(K, v)                                                \
	KLOCK_WAIT_QUEUES(K, v)
#define KLOCK_AWAITED(K, v)                                                    \
	KLOCK_SEMAPHORES(K, v)                                                 \
	KLOCK_CONDITIONS(K, v)                                                 \
	KLOCK_WAITED_FOR(K, v)
#define KLOCK_SLEEPING(K, v)                                                   \
	KLOCK_MUTEXES(K, v)                                                    \
	KLOCK_SHARED_MUTEXES(K, v)                                             \
	KLOCK_AWAITED(K, v)

/* Kinds by what they can do. */
#define KLOCK_ALL_BUT_READERS(K, v)                                            \
	KLOCK_TICKETS(K, v)                                                    \
	KLOCK_TASES(K, v)                                                      \
	KLOCK_RECURSIVES(K, v)                                                 \
	KLOCK_QUEUEDS(K, v)                                                    \
	KLOCK_NODES(K, v)                                                      \
	KLOCK_TIMEOUTS(K, v)                                                   \
	KLOCK_BAKERIES(K, v)
#define KLOCK_ALL(K, v)                                                        \
	KLOCK_ALL_BUT_READERS(K, v)                                            \
	KLOCK_READERS(K, v)
/* KLOCK_ALL has irqsave verbs; these do not all have them. */
#define KLOCK_LOCKS(K, v)                                                      \
	KLOCK_ALL(K, v)                                                        \
	KLOCK_SLEEPING_LOCKS(K, v)
#define KLOCK_ANY(K, v)                                                        \
	KLOCK_ALL(K, v)                                                        \
	KLOCK_SLEEPING(K, v)                                                   \
	KLOCK_INHERITINGS(K, v)
#define KLOCK_SHARED_LOCKS(K, v)                                               \
	KLOCK_READERS(K, v)                                                    \
	KLOCK_SHARED_MUTEXES(K, v)
#define KLOCK_DOWNGRADED(K, v)                                                 \
	KLOCK_TRIED_READERS(K, v)                                              \
	KLOCK_SHARED_MUTEXES(K, v)
#define KLOCK_TRIED(K, v)                                                      \
	KLOCK_TRIED_TICKETS(K, v)                                              \
	KLOCK_TASES(K, v)                                                      \
	KLOCK_RECURSIVES(K, v)                                                 \
	KLOCK_QUEUEDS(K, v)                                                    \
	K(MCS, mcs, v)                                                         \
	KLOCK_TIMEOUTS(K, v)                                                   \
	KLOCK_TRIED_READERS(K, v)
#define KLOCK_TRIED_LOCKS(K, v)                                                \
	KLOCK_TRIED(K, v)                                                      \
	KLOCK_SLEEPING_LOCKS(K, v)
#define KLOCK_CONTENDED(K, v)                                                  \
	KLOCK_TICKETS(K, v)                                                    \
	KLOCK_RECURSIVES(K, v)                                                 \
	KLOCK_QUEUEDS(K, v)                                                    \
	KLOCK_NODES(K, v)                                                      \
	KLOCK_TIMEOUTS(K, v)                                                   \
	KLOCK_BAKERIES(K, v)                                                   \
	KLOCK_SLEEPING_LOCKS(K, v)                                             \
	KLOCK_COMPLETIONS(K, v)

/* Kinds that have a form that counts. */
#define KLOCK_COUNTED_TICKETS(K, v)                                            \
	K(TICKET, ticket_u8, v)                                                \
	K(TICKET, ticket_u16, v)                                               \
	K(TICKET, ticket_u32, v)                                               \
	K(TICKET, preemptable_ticket_u8, v)                                    \
	K(TICKET, preemptable_ticket_u16, v)
#define KLOCK_COUNTED_TASES(K, v)                                              \
	K(TAS, tas, v)                                                         \
	K(TAS, backoff_ttas, v)
#define KLOCK_COUNTED_CONTENDED(K, v)                                          \
	KLOCK_COUNTED_TICKETS(K, v)                                            \
	KLOCK_QUEUEDS(K, v)
#define KLOCK_COUNTED_ALONE(K, v)                                              \
	KLOCK_COUNTED_CONTENDED(K, v)                                          \
	KLOCK_COUNTED_TASES(K, v)
#define KLOCK_COUNTED_READERS(K, v)                                            \
	K(READERS, rw_ticket_u8, v)                                            \
	K(READERS, rw_ticket_u16, v)
#define KLOCK_COUNTED_ALL(K, v)                                                \
	KLOCK_COUNTED_ALONE(K, v)                                              \
	KLOCK_COUNTED_READERS(K, v)

/* A statement that does not compile, with this text, if the lock, checked or
 * not, is of a kind in the list. */
/* clang-format off */
#define KLOCK_CASE_REFUSED(shape, x, v) \
	, struct klock_##x *: 0, struct klock_checked_##x *: 0
#ifdef __cplusplus
#define KLOCK_REFUSE(kinds, lock, text)
#else
#define KLOCK_REFUSE(kinds, lock, text) \
	_Static_assert(_Generic((lock), default: 1 kinds(KLOCK_CASE_REFUSED, )), text);
#endif
/* clang-format on */

/* A family's functions, in its header. */
#define KLOCK_DECLARE_KIND(shape, x, v)                                        \
	KLOCK_SHAPE_##shape(KLOCK_DECLARE_PLAIN, KLOCK_DECLARE, x)

#ifdef __cplusplus
}
#endif
