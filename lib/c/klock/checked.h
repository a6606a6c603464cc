/* SPDX-License-Identifier: MIT */
/*
 * checked - locks that name every misuse instead of hanging, for klock/klock.h
 *
 *	static struct klock_checked_ticket_u8 lock =
 *		KLOCK_CHECKED_INIT("runqueue", KLOCK_TICKET_INIT);
 *
 *	klock_checked_ticket_u8_lock(&lock);
 *
 * For debug builds: as klock_ticket_u8, with the same arguments, and a name.
 * What is found, and what it costs: klock/checked_lock.hpp. The verbs are
 * macros that hand on the caller's file and line (checked_calls.h); behind each
 * is a function of that name with _at, for callers that report another's.
 *
 * Zero bytes are a lock without a name, where zero bytes are a free lock
 * inside. All files of a kernel must take a lock for the same type: decide it
 * in one header of your own.
 */
#pragma once

#include <klock/bakery.h>
#include <klock/queue.h>
#include <klock/queued.h>
#include <klock/tas.h>
#include <klock/ticket.h>
#include <klock/timeout.h>
#include <klock/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the kernel supplies; klock/os.hpp says what each must do. A kernel that
 * moves threads which hold locks defines klock_os_owner_id() as well.
 */
#ifndef __cplusplus
unsigned klock_os_cpu_id(void);
int klock_os_context(void); /* 0: thread, 1: interrupt handler, 2: NMI */
unsigned long klock_os_owner_id(void) __attribute__((weak));
void klock_os_panic(const char *lock_name, const void *lock_address,
		    unsigned cpu, const char *what) __attribute__((noreturn));
#endif

/* What a lock knows of its use. */
struct __attribute__((may_alias)) klock_usage {
	const char *klock_name;
	/* The rest of the C++ lock_usage. */
	void *klock_noted[sizeof(void *) == 8 ? 9 : 13];
};

/* name: a text that lives as long as the lock; then the lock's KLOCK_..._INIT.
 */
/* clang-format off */
#define KLOCK_CHECKED_INIT(name, ...) \
	{.klock_usage = {(name), {0}}, .klock_inner = __VA_ARGS__}
/* clang-format on */

/*
 * -- Of any checked lock; lock: its address --
 *
 *	set_name	before others use it; the text must live as long
 *	set_element	the same for one of an array: "bucket[3]"
 *	is_held_by_me	exact: nobody else can change that
 *	assert_held	a panic where the caller does not hold it
 */
#define klock_checked_set_name(lock, name)                                     \
	klock_usage_set_name(&(lock)->klock_usage, name)
#define klock_checked_set_element(lock, name, index)                           \
	klock_usage_set_element(&(lock)->klock_usage, name, index)
#define klock_checked_is_held_by_me(lock)                                      \
	klock_usage_is_held_by_me(&(lock)->klock_usage)
#define klock_checked_assert_held(lock)                                        \
	klock_usage_assert_held(&(lock)->klock_usage, KLOCK_HERE)

void klock_usage_set_name(struct klock_usage *usage, const char *name);
void klock_usage_set_element(struct klock_usage *usage, const char *name,
			     unsigned index);
int klock_usage_is_held_by_me(const struct klock_usage *usage);
void klock_usage_assert_held(const struct klock_usage *usage, const char *file,
			     int line);

/* -- Each lock, by the verbs that it has unchecked -- */

#define KLOCK_CHECKED(x)                                                       \
	struct __attribute__((may_alias)) klock_checked_##x {                  \
		struct klock_usage klock_usage;                                \
		struct klock_##x klock_inner;                                  \
	};                                                                     \
	KLOCK_CHECKED_STATE_VERBS(x)

#define KLOCK_CHECKED_STATE_VERBS(x)                                           \
	void klock_checked_##x##_init(struct klock_checked_##x *lock);         \
	int klock_checked_##x##_is_locked(const struct klock_checked_##x *lock)

#define KLOCK_CHECKED_PLAIN(x)                                                 \
	KLOCK_CHECKED(x);                                                      \
	KLOCK_CHECKED_PLAIN_CALLS(x)

#define KLOCK_CHECKED_PLAIN_CALLS(x)                                           \
	void klock_checked_##x##_lock_at(struct klock_checked_##x *lock,       \
					 const char *file, int line);          \
	void klock_checked_##x##_unlock_at(struct klock_checked_##x *lock,     \
					   const char *file, int line);        \
	unsigned long klock_checked_##x##_lock_irqsave_at(                     \
		struct klock_checked_##x *lock, const char *file, int line);   \
	void klock_checked_##x##_unlock_irqrestore_at(                         \
		struct klock_checked_##x *lock, unsigned long before,          \
		const char *file, int line)

#define KLOCK_CHECKED_TRY(x)                                                   \
	int klock_checked_##x##_try_lock_until_at(                             \
		struct klock_checked_##x *lock, unsigned long long deadline,   \
		const char *file, int line);                                   \
	int klock_checked_##x##_try_lock_for_at(                               \
		struct klock_checked_##x *lock, unsigned long long cycles,     \
		const char *file, int line);                                   \
	int klock_checked_##x##_try_lock_at(struct klock_checked_##x *lock,    \
					    const char *file, int line);       \
	int klock_checked_##x##_try_lock_irqsave_at(                           \
		struct klock_checked_##x *lock, unsigned long *before,         \
		const char *file, int line)

#define KLOCK_CHECKED_PADDED(x)                                                \
	KLOCK_CHECKED_PLAIN(x);                                                \
	KLOCK_CONTENDED_VERB(checked_##x)

#define KLOCK_CHECKED_TAS(x)                                                   \
	KLOCK_CHECKED_PLAIN(x);                                                \
	KLOCK_CHECKED_TRY(x)

#define KLOCK_CHECKED_TICKET(x)                                                \
	KLOCK_CHECKED_TAS(x);                                                  \
	KLOCK_CONTENDED_VERB(checked_##x)

#define KLOCK_CHECKED_PROPORTIONAL(x)                                          \
	KLOCK_CHECKED_TICKET(x);                                               \
	void klock_checked_##x##_set_base(struct klock_checked_##x *lock,      \
					  unsigned int base)

#define KLOCK_CHECKED_QUEUED(x)                                                \
	KLOCK_CHECKED_TICKET(x);                                               \
	void klock_checked_##x##_lock_from_at(struct klock_checked_##x *lock,  \
					      unsigned cpu, const char *file,  \
					      int line)

#define KLOCK_CHECKED_BAKERY(x)                                                \
	KLOCK_CHECKED(x);                                                      \
	KLOCK_CONTENDED_VERB(checked_##x);                                     \
	void klock_checked_##x##_lock_at(struct klock_checked_##x *lock,       \
					 unsigned cpu, const char *file,       \
					 int line);                            \
	void klock_checked_##x##_unlock_at(struct klock_checked_##x *lock,     \
					   unsigned cpu, const char *file,     \
					   int line);                          \
	unsigned long klock_checked_##x##_lock_irqsave_at(                     \
		struct klock_checked_##x *lock, unsigned (*cpu_id)(void),      \
		const char *file, int line);                                   \
	void klock_checked_##x##_unlock_irqrestore_at(                         \
		struct klock_checked_##x *lock, unsigned (*cpu_id)(void),      \
		unsigned long before, const char *file, int line)

#define KLOCK_CHECKED_TIMEOUT(x)                                               \
	KLOCK_CHECKED_BAKERY(x);                                               \
	int klock_checked_##x##_try_lock_at(struct klock_checked_##x *lock,    \
					    unsigned cpu, const char *file,    \
					    int line);                         \
	int klock_checked_##x##_try_lock_irqsave_at(                           \
		struct klock_checked_##x *lock, unsigned (*cpu_id)(void),      \
		unsigned long *before, const char *file, int line);            \
	int klock_checked_##x##_try_lock_until_at(                             \
		struct klock_checked_##x *lock, unsigned cpu,                  \
		unsigned long long deadline, const char *file, int line);      \
	int klock_checked_##x##_try_lock_for_at(                               \
		struct klock_checked_##x *lock, unsigned cpu,                  \
		unsigned long long cycles, const char *file, int line)

#define KLOCK_CHECKED_NODE(x)                                                  \
	KLOCK_CHECKED(x);                                                      \
	int klock_checked_##x##_is_contended(                                  \
		const struct klock_checked_##x *lock,                          \
		const struct klock_##x##_node *mine);                          \
	void klock_checked_##x##_lock_at(struct klock_checked_##x *lock,       \
					 struct klock_##x##_node *mine,        \
					 const char *file, int line);          \
	void klock_checked_##x##_unlock_at(struct klock_checked_##x *lock,     \
					   struct klock_##x##_node *mine,      \
					   const char *file, int line);        \
	unsigned long klock_checked_##x##_lock_irqsave_by_at(                  \
		struct klock_checked_##x *lock,                                \
		struct klock_##x##_node *(*mine)(void), const char *file,      \
		int line);                                                     \
	void klock_checked_##x##_unlock_irqrestore_by_at(                      \
		struct klock_checked_##x *lock,                                \
		struct klock_##x##_node *(*mine)(void), unsigned long before,  \
		const char *file, int line)

KLOCK_CHECKED_TICKET(ticket_u8);
KLOCK_CHECKED_TICKET(ticket_u16);
KLOCK_CHECKED_TICKET(ticket_u32);
KLOCK_CHECKED_TICKET(preemptable_ticket_u8);
KLOCK_CHECKED_TICKET(preemptable_ticket_u16);
KLOCK_CHECKED_TICKET(narrow_ticket_2);
KLOCK_CHECKED_TICKET(narrow_ticket_3);
KLOCK_CHECKED_TICKET(narrow_ticket_4);
KLOCK_CHECKED_PADDED(padded_ticket_u8);
KLOCK_CHECKED_PADDED(padded_ticket_u16);
KLOCK_CHECKED_PADDED(padded_ticket_u32);
KLOCK_CHECKED_PROPORTIONAL(proportional_ticket_u8);
KLOCK_CHECKED_PROPORTIONAL(proportional_ticket_u16);
KLOCK_CHECKED_PROPORTIONAL(proportional_ticket_u32);
KLOCK_CHECKED_TAS(tas);
KLOCK_CHECKED_TAS(ttas);
KLOCK_CHECKED_TAS(backoff_ttas);
KLOCK_CHECKED_QUEUED(queued_64);
KLOCK_CHECKED_QUEUED(queued_256);
KLOCK_CHECKED_BAKERY(bakery_4);
KLOCK_CHECKED_BAKERY(bakery_8);
KLOCK_CHECKED_BAKERY(bakery_16);
KLOCK_CHECKED_BAKERY(bakery_32);
KLOCK_CHECKED_BAKERY(bakery_64);
KLOCK_CHECKED_TIMEOUT(timeout_8);
KLOCK_CHECKED_TIMEOUT(timeout_64);

KLOCK_CHECKED_NODE(mcs);
int klock_checked_mcs_try_lock_at(struct klock_checked_mcs *lock,
				  struct klock_mcs_node *mine, const char *file,
				  int line);
int klock_checked_mcs_try_lock_until_at(struct klock_checked_mcs *lock,
					struct klock_mcs_node *mine,
					unsigned long long deadline,
					const char *file, int line);
int klock_checked_mcs_try_lock_for_at(struct klock_checked_mcs *lock,
				      struct klock_mcs_node *mine,
				      unsigned long long cycles,
				      const char *file, int line);
unsigned long klock_checked_mcs_lock_irqsave_at(struct klock_checked_mcs *lock,
						struct klock_mcs_node *mine,
						const char *file, int line);
int klock_checked_mcs_try_lock_irqsave_at(struct klock_checked_mcs *lock,
					  struct klock_mcs_node *mine,
					  unsigned long *before,
					  const char *file, int line);
void klock_checked_mcs_unlock_irqrestore_at(struct klock_checked_mcs *lock,
					    struct klock_mcs_node *mine,
					    unsigned long before,
					    const char *file, int line);

KLOCK_CHECKED_NODE(clh);
unsigned long klock_checked_clh_lock_irqsave_at(struct klock_checked_clh *lock,
						struct klock_clh_node *nodes,
						unsigned (*cpu_id)(void),
						const char *file, int line);
void klock_checked_clh_unlock_irqrestore_at(struct klock_checked_clh *lock,
					    struct klock_clh_node *nodes,
					    unsigned (*cpu_id)(void),
					    unsigned long before,
					    const char *file, int line);

#ifdef __cplusplus
}
#endif

#include <klock/checked_calls.h>
#include <klock/checked_timed_calls.h>
