/* SPDX-License-Identifier: MIT */
/*
 * c_functions - the bodies behind klock/klock.h, each verb once
 *
 * The library's own: klock_X_verb(lock, ...) calls klock::c::verb(lock, ...),
 * for each kind and verb of verbs.h. with: what the lock wants beside itself, a
 * node or a number, and a checked one the call site behind it.
 */
#pragma once

#include <klock/c_lock.hpp>
#include <klock/irq.hpp>
#include <klock/try_lock_until.hpp>

namespace klock {
namespace c {

static_assert(sizeof(unsigned long) >= sizeof(irq_state));

/* An overload of our own, as a kernel has no <new>. */
struct memory {
	void *at;
};

} // namespace c
} // namespace klock

inline void *operator new(klock::usize, klock::c::memory of) { return of.at; }

namespace klock {
namespace c {

/* An init function makes what the C++ lock's constructor makes. */
template <typename C>
void init(C *lock)
{
	new (memory{lock}) typename cpp_of<C>::type;
}

template <typename C>
void init(C *lock, unsigned units)
{
	new (memory{lock}) typename cpp_of<C>::type(units);
}

/* Line by line: at once would become a call of memset(). */
template <typename C>
	requires requires(C lock) { lock.klock_marks; }
void init(C *lock)
{
	lock->klock_word = 0;
	for (klock_reader_line volatile &line : lock->klock_marks)
		line.klock_reading = 0;
}

/* Number by number, for the same reason. */
template <typename C>
	requires requires(C lock) { lock.klock_number; }
void init(C *lock)
{
	for (unsigned volatile &number : lock->klock_number)
		number = 0;
}

template <typename C>
	requires requires(C lock) { lock.klock_slots; }
void init(C *lock)
{
	lock->klock_next = 0;
	for (klock_timeout_slot volatile &slot : lock->klock_slots)
		slot.klock_place = 0;
	for (klock_timeout_record volatile &record : lock->klock_records) {
		record.klock_ticket = 0;
		record.klock_stands = 0;
	}
}

/* -- Arguments of C, as C++ takes them -- */

template <typename T>
T given(T value)
{
	return value;
}
template <typename T>
	requires requires(T find) { find(); }
auto &given(T find)
{
	return as_cpp(*find());
}
inline auto &given(klock_mcs_node *mine) { return as_cpp(*mine); }
inline auto &given(const klock_mcs_node *mine) { return as_cpp(*mine); }
inline auto &given(klock_clh_node *mine) { return as_cpp(*mine); }
inline auto &given(const klock_clh_node *mine) { return as_cpp(*mine); }

/* The caller's node is found by its CPU's number, with interrupts off. */
struct node_of_cpu {
	klock_clh_node *nodes;
	unsigned (*cpu_id)();
};

template <typename T>
decltype(auto) asked(T value)
{
	return given(value);
}
template <typename T>
decltype(auto) asked(T (*find)())
{
	return given(find());
}
inline auto &asked(node_of_cpu by) { return as_cpp(by.nodes[by.cpu_id()]); }

/* -- The members of the lock, by their names -- */

#define KLOCK_C_MEMBER(verb)                                                   \
	template <typename C, typename... With>                                \
	auto verb(C *lock, With... with)                                       \
	{                                                                      \
		return as_cpp(*lock).verb(given(with)...);                     \
	}

KLOCK_C_MEMBER(lock)
KLOCK_C_MEMBER(unlock)
KLOCK_C_MEMBER(try_lock)
KLOCK_C_MEMBER(lock_shared)
KLOCK_C_MEMBER(unlock_shared)
KLOCK_C_MEMBER(try_lock_shared)
KLOCK_C_MEMBER(downgrade)
KLOCK_C_MEMBER(lock_upgradable)
KLOCK_C_MEMBER(try_lock_upgradable)
KLOCK_C_MEMBER(unlock_upgradable)
KLOCK_C_MEMBER(upgrade)
KLOCK_C_MEMBER(try_upgrade)
KLOCK_C_MEMBER(lock_from)
KLOCK_C_MEMBER(is_locked)
KLOCK_C_MEMBER(is_contended)
KLOCK_C_MEMBER(set_base)
KLOCK_C_MEMBER(owner_died)
KLOCK_C_MEMBER(try_lock_shared_until)
KLOCK_C_MEMBER(try_lock_shared_for)
KLOCK_C_MEMBER(acquire)
KLOCK_C_MEMBER(try_acquire)
KLOCK_C_MEMBER(try_acquire_until)
KLOCK_C_MEMBER(try_acquire_for)
KLOCK_C_MEMBER(wait)
KLOCK_C_MEMBER(wait_until)
KLOCK_C_MEMBER(wait_for)
KLOCK_C_MEMBER(set)
KLOCK_C_MEMBER(reset)
KLOCK_C_MEMBER(is_set)
KLOCK_C_MEMBER(notify_one)
KLOCK_C_MEMBER(notify_all)

/* -- Locks whose waiters sleep, where C's arguments differ -- */

template <typename C, typename... By>
void release(C *lock, By... by)
{
	(void)as_cpp(*lock).release(by...);
}

#define KLOCK_C_CALLING(verb, result)                                          \
	template <typename C, typename... Rest>                                \
	auto verb(C *lock, result (*what)(void *), void *with, Rest... rest)   \
	{                                                                      \
		return as_cpp(*lock).verb([=] { return what(with); },          \
					  rest...);                            \
	}

KLOCK_C_CALLING(wait, int)
KLOCK_C_CALLING(wait_until, int)
KLOCK_C_CALLING(wait_for, int)
KLOCK_C_CALLING(wake_one, void)
KLOCK_C_CALLING(wake_all, void)

template <typename C, typename... By>
void prepare(C *lock, klock_sleeper *me, By... by)
{
	init(me);
	as_cpp(*lock).prepare(as_cpp(*me), by...);
}

template <typename C, typename... By>
bool sleep(C *lock, klock_sleeper *me, const unsigned long long *until,
	   By... by)
{
	const u64 at = until ? *until : 0;

	return as_cpp(*lock).sleep(as_cpp(*me), until ? &at : nullptr, by...);
}

/* -- Deadlines: by the lock's own verb, or by its try_lock() -- */

template <typename C, typename... With>
int ask_until(C *lock, unsigned long long deadline, With... with)
{
	return detail::ask_until(as_cpp(*lock), deadline, given(with)...);
}

template <typename C, typename... By>
int try_lock_until(C *lock, unsigned long long deadline, By... by)
{
	return ask_until(lock, deadline, by...);
}

template <typename C, typename... By>
int try_lock_until(C *lock, klock_mcs_node *mine, unsigned long long deadline,
		   By... by)
{
	const auto find = [=] { return mine; };

	return ask_until(lock, deadline, find, by...);
}

template <typename C, typename... By>
int try_lock_until(C *lock, unsigned cpu, unsigned long long deadline, By... by)
{
	return as_cpp(*lock).try_lock_until(cpu, deadline, by...);
}

template <typename C, typename... By>
int try_lock_for(C *lock, unsigned long long cycles, By... by)
{
	return ask_until(lock, deadline_in(cycles), by...);
}

template <typename C, typename... By>
int try_lock_for(C *lock, klock_mcs_node *mine, unsigned long long cycles,
		 By... by)
{
	const auto find = [=] { return mine; };

	return ask_until(lock, deadline_in(cycles), find, by...);
}

template <typename C, typename... By>
int try_lock_for(C *lock, unsigned cpu, unsigned long long cycles, By... by)
{
	return as_cpp(*lock).try_lock_for(cpu, cycles, by...);
}

/* -- A deadline, and why the wait ended -- */

template <typename C, typename... Rest>
klock_wait_result lock_until(C *lock, unsigned long long deadline, Rest... rest)
{
	return static_cast<klock_wait_result>(
		as_cpp(*lock).lock_until(deadline, rest...));
}

template <typename C, typename... By>
klock_wait_result lock_until_links(C *lock, unsigned long long deadline,
				   void (*link)(const klock_inheriting_thread *,
						const void *, void *),
				   void *with, By... by)
{
	const auto told = [=](const inheriting_thread &thread,
			      const void *mutex) {
		const auto *const waits =
			reinterpret_cast<const klock_inheriting_thread *>(
				&thread);

		if (link)
			link(waits, mutex, with);
	};

	return lock_until(lock, deadline, told, by...);
}

/* -- With interrupts off: alone and shared. CLH finds its node by two -- */

#define KLOCK_C_IRQSAVE(lock_irqsave, lock_verb)                               \
	template <typename C, typename... With>                                \
	unsigned long lock_irqsave(C *lock, With... with)                      \
	{                                                                      \
		const irq_state before = irq_save();                           \
                                                                               \
		as_cpp(*lock).lock_verb(asked(with)...);                       \
		return before;                                                 \
	}                                                                      \
	template <typename C, typename... By>                                  \
	unsigned long lock_irqsave(C *lock, klock_clh_node *nodes,             \
				   unsigned (*cpu_id)(), By... by)             \
	{                                                                      \
		return lock_irqsave(lock, node_of_cpu{nodes, cpu_id}, by...);  \
	}

KLOCK_C_IRQSAVE(lock_irqsave, lock)
KLOCK_C_IRQSAVE(lock_irqsave_by, lock)
KLOCK_C_IRQSAVE(lock_shared_irqsave, lock_shared)
KLOCK_C_IRQSAVE(lock_upgradable_irqsave, lock_upgradable)

#define KLOCK_C_IRQRESTORE(unlock_irqrestore, unlock_verb)                     \
	template <typename C, typename... By>                                  \
	void unlock_irqrestore(C *lock, unsigned long before, By... by)        \
	{                                                                      \
		as_cpp(*lock).unlock_verb(by...);                              \
		irq_restore(static_cast<irq_state>(before));                   \
	}                                                                      \
	template <typename C, typename With, typename... By>                   \
	void unlock_irqrestore(C *lock, With with, unsigned long before,       \
			       By... by)                                       \
	{                                                                      \
		as_cpp(*lock).unlock_verb(asked(with), by...);                 \
		irq_restore(static_cast<irq_state>(before));                   \
	}                                                                      \
	template <typename C, typename... By>                                  \
	void unlock_irqrestore(C *lock, klock_clh_node *nodes,                 \
			       unsigned (*cpu_id)(), unsigned long before,     \
			       By... by)                                       \
	{                                                                      \
		unlock_irqrestore(lock, node_of_cpu{nodes, cpu_id}, before,    \
				  by...);                                      \
	}

KLOCK_C_IRQRESTORE(unlock_irqrestore, unlock)
KLOCK_C_IRQRESTORE(unlock_irqrestore_by, unlock)
KLOCK_C_IRQRESTORE(unlock_shared_irqrestore, unlock_shared)
KLOCK_C_IRQRESTORE(unlock_upgradable_irqrestore, unlock_upgradable)

#define KLOCK_C_TRY_IRQSAVE(try_lock_irqsave, try_verb)                        \
	template <typename C, typename... With>                                \
	int try_lock_irqsave(C *lock, unsigned long *before, With... with)     \
	{                                                                      \
		const irq_state was = irq_save();                              \
                                                                               \
		if (!as_cpp(*lock).try_verb(asked(with)...)) {                 \
			irq_restore(was);                                      \
			return 0;                                              \
		}                                                              \
		*before = was;                                                 \
		return 1;                                                      \
	}                                                                      \
	template <typename C, typename With, typename... By>                   \
	int try_lock_irqsave(C *lock, With with, unsigned long *before,        \
			     By... by)                                         \
	{                                                                      \
		return try_lock_irqsave(lock, before, with, by...);            \
	}

KLOCK_C_TRY_IRQSAVE(try_lock_irqsave, try_lock)
KLOCK_C_TRY_IRQSAVE(try_lock_shared_irqsave, try_lock_shared)

} // namespace c
} // namespace klock

/* -- A kind's functions, of a list in verbs.h -- */

#define KLOCK_C_VERB(x, result, verb, p, a)                                    \
	KLOCK_TYPE_##result klock_##x##_##verb p { return klock::c::verb a; }

#define KLOCK_C_KIND(shape, x, v)                                              \
	KLOCK_SHAPE_##shape(KLOCK_C_VERB, KLOCK_C_VERB, x)
