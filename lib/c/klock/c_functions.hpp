/* SPDX-License-Identifier: MIT */
/*
 * c_functions - the bodies behind klock/klock.h, each shape once
 *
 * The library's own: its sources, one a lock, say which shapes that lock has.
 * with: what the lock wants beside itself, a node or a number, as a function
 * that is asked with interrupts off.
 */
#pragma once

#include <klock/c_lock.hpp>
#include <klock/irq.hpp>
#include <klock/try_lock_until.hpp>

namespace klock {
namespace c {

static_assert(sizeof(unsigned long) >= sizeof(irq_state));

/* Says where; an overload of our own, as a kernel has no <new>. */
struct place {
	void *at;
};

} // namespace c
} // namespace klock

inline void *operator new(klock::usize, klock::c::place here)
{
	return here.at;
}

namespace klock {
namespace c {

/* What init makes is what the C++ lock's constructor makes. */
template <typename C>
void init(C *lock)
{
	new (place{lock}) typename cpp_of<C>::type;
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

template <typename C, typename... With>
unsigned long lock_irqsave(C *lock, With... with)
{
	const irq_state before = irq_save();

	as_cpp(*lock).lock(with()...);
	return before;
}

template <typename C, typename... With>
int try_lock_irqsave(C *lock, unsigned long *before, With... with)
{
	const irq_state was = irq_save();

	if (!as_cpp(*lock).try_lock(with()...)) {
		irq_restore(was);
		return 0;
	}
	*before = was;
	return 1;
}

template <typename C, typename... With>
void unlock_irqrestore(C *lock, unsigned long before, With... with)
{
	as_cpp(*lock).unlock(with()...);
	irq_restore(static_cast<irq_state>(before));
}

/* Asked by the lock's own try_lock(), whatever it wants to know. */
template <typename C, typename... With>
int try_lock_until(C *lock, u64 deadline, With... with)
{
	auto &asked = as_cpp(*lock);

	return detail::ask_until(asked, deadline,
				 [&] { return asked.try_lock(with()...); });
}

template <typename C, typename... With>
int try_lock_for(C *lock, u64 cycles, With... with)
{
	return try_lock_until(lock, deadline_in(cycles), with...);
}

/* -- The same for a reader -- */

template <typename C, typename... With>
unsigned long lock_shared_irqsave(C *lock, With... with)
{
	const irq_state before = irq_save();

	as_cpp(*lock).lock_shared(with()...);
	return before;
}

template <typename C, typename... With>
int try_lock_shared_irqsave(C *lock, unsigned long *before, With... with)
{
	const irq_state was = irq_save();

	if (!as_cpp(*lock).try_lock_shared(with()...)) {
		irq_restore(was);
		return 0;
	}
	*before = was;
	return 1;
}

template <typename C, typename... With>
void unlock_shared_irqrestore(C *lock, unsigned long before, With... with)
{
	as_cpp(*lock).unlock_shared(with()...);
	irq_restore(static_cast<irq_state>(before));
}

/* The three ways in which a C caller says which node. */
template <typename Node>
auto this_node(Node *mine)
{
	return [=]() -> auto & { return as_cpp(*mine); };
}

template <typename Node>
auto node_by(Node *(*mine)())
{
	return [=]() -> auto & { return as_cpp(*mine()); };
}

template <typename Node>
auto node_of_cpu(Node *nodes, unsigned (*cpu_id)())
{
	return [=]() -> auto & { return as_cpp(nodes[cpu_id()]); };
}

} // namespace c
} // namespace klock

/* -- As KLOCK_VERBS and the others in verbs.h -- */

#define KLOCK_C_VERBS(x)                                                       \
	void klock_##x##_init(klock_##x *lock) { klock::c::init(lock); }       \
	void klock_##x##_lock(klock_##x *lock)                                 \
	{                                                                      \
		klock::as_cpp(*lock).lock();                                   \
	}                                                                      \
	void klock_##x##_unlock(klock_##x *lock)                               \
	{                                                                      \
		klock::as_cpp(*lock).unlock();                                 \
	}                                                                      \
	int klock_##x##_is_locked(const klock_##x *lock)                       \
	{                                                                      \
		return klock::as_cpp(*lock).is_locked();                       \
	}                                                                      \
	unsigned long klock_##x##_lock_irqsave(klock_##x *lock)                \
	{                                                                      \
		return klock::c::lock_irqsave(lock);                           \
	}                                                                      \
	void klock_##x##_unlock_irqrestore(klock_##x *lock,                    \
					   unsigned long before)               \
	{                                                                      \
		klock::c::unlock_irqrestore(lock, before);                     \
	}

#define KLOCK_C_TRY_VERBS(x)                                                   \
	int klock_##x##_try_lock(klock_##x *lock)                              \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock();                        \
	}                                                                      \
	int klock_##x##_try_lock_irqsave(klock_##x *lock,                      \
					 unsigned long *before)                \
	{                                                                      \
		return klock::c::try_lock_irqsave(lock, before);               \
	}                                                                      \
	int klock_##x##_try_lock_until(klock_##x *lock,                        \
				       unsigned long long deadline)            \
	{                                                                      \
		return klock::c::try_lock_until(lock, deadline);               \
	}                                                                      \
	int klock_##x##_try_lock_for(klock_##x *lock,                          \
				     unsigned long long cycles)                \
	{                                                                      \
		return klock::c::try_lock_for(lock, cycles);                   \
	}

#define KLOCK_C_SHARED_VERBS(x)                                                \
	void klock_##x##_lock_shared(klock_##x *lock)                          \
	{                                                                      \
		klock::as_cpp(*lock).lock_shared();                            \
	}                                                                      \
	void klock_##x##_unlock_shared(klock_##x *lock)                        \
	{                                                                      \
		klock::as_cpp(*lock).unlock_shared();                          \
	}                                                                      \
	int klock_##x##_try_lock_shared(klock_##x *lock)                       \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_shared();                 \
	}                                                                      \
	unsigned long klock_##x##_lock_shared_irqsave(klock_##x *lock)         \
	{                                                                      \
		return klock::c::lock_shared_irqsave(lock);                    \
	}                                                                      \
	int klock_##x##_try_lock_shared_irqsave(klock_##x *lock,               \
						unsigned long *before)         \
	{                                                                      \
		return klock::c::try_lock_shared_irqsave(lock, before);        \
	}                                                                      \
	void klock_##x##_unlock_shared_irqrestore(klock_##x *lock,             \
						  unsigned long before)        \
	{                                                                      \
		klock::c::unlock_shared_irqrestore(lock, before);              \
	}

#define KLOCK_C_READER(x)                                                      \
	KLOCK_C_VERBS(x)                                                       \
	void klock_##x##_lock_shared(klock_##x *lock, unsigned cpu)            \
	{                                                                      \
		klock::as_cpp(*lock).lock_shared(cpu);                         \
	}                                                                      \
	void klock_##x##_unlock_shared(klock_##x *lock, unsigned cpu)          \
	{                                                                      \
		klock::as_cpp(*lock).unlock_shared(cpu);                       \
	}                                                                      \
	int klock_##x##_try_lock_shared(klock_##x *lock, unsigned cpu)         \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_shared(cpu);              \
	}                                                                      \
	unsigned long klock_##x##_lock_shared_irqsave(klock_##x *lock,         \
						      unsigned (*cpu_id)())    \
	{                                                                      \
		return klock::c::lock_shared_irqsave(lock, cpu_id);            \
	}                                                                      \
	int klock_##x##_try_lock_shared_irqsave(                               \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long *before)  \
	{                                                                      \
		return klock::c::try_lock_shared_irqsave(lock, before,         \
							 cpu_id);              \
	}                                                                      \
	void klock_##x##_unlock_shared_irqrestore(                             \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long before)   \
	{                                                                      \
		klock::c::unlock_shared_irqrestore(lock, before, cpu_id);      \
	}

#define KLOCK_C_CONTENDED_VERB(x)                                              \
	int klock_##x##_is_contended(const klock_##x *lock)                    \
	{                                                                      \
		return klock::as_cpp(*lock).is_contended();                    \
	}

#define KLOCK_C_LOCK_FROM(x)                                                   \
	void klock_##x##_lock_from(klock_##x *lock, unsigned cpu)              \
	{                                                                      \
		klock::as_cpp(*lock).lock_from(cpu);                           \
	}

#define KLOCK_C_SET_BASE(x)                                                    \
	void klock_##x##_set_base(klock_##x *lock, unsigned base)              \
	{                                                                      \
		klock::as_cpp(*lock).set_base(base);                           \
	}

#define KLOCK_C_NODE_VERBS(x)                                                  \
	void klock_##x##_init(klock_##x *lock) { klock::c::init(lock); }       \
	void klock_##x##_lock(klock_##x *lock, klock_##x##_node *mine)         \
	{                                                                      \
		klock::as_cpp(*lock).lock(klock::as_cpp(*mine));               \
	}                                                                      \
	void klock_##x##_unlock(klock_##x *lock, klock_##x##_node *mine)       \
	{                                                                      \
		klock::as_cpp(*lock).unlock(klock::as_cpp(*mine));             \
	}                                                                      \
	int klock_##x##_is_locked(const klock_##x *lock)                       \
	{                                                                      \
		return klock::as_cpp(*lock).is_locked();                       \
	}                                                                      \
	int klock_##x##_is_contended(const klock_##x *lock,                    \
				     const klock_##x##_node *mine)             \
	{                                                                      \
		return klock::as_cpp(*lock).is_contended(                      \
			klock::as_cpp(*mine));                                 \
	}                                                                      \
	unsigned long klock_##x##_lock_irqsave_by(klock_##x *lock,             \
						  klock_##x##_node *(*mine)()) \
	{                                                                      \
		return klock::c::lock_irqsave(lock, klock::c::node_by(mine));  \
	}                                                                      \
	void klock_##x##_unlock_irqrestore_by(klock_##x *lock,                 \
					      klock_##x##_node *(*mine)(),     \
					      unsigned long before)            \
	{                                                                      \
		klock::c::unlock_irqrestore(lock, before,                      \
					    klock::c::node_by(mine));          \
	}

/* Of a lock that is taken under a number. */
#define KLOCK_C_NUMBERED(x)                                                    \
	void klock_##x##_lock(klock_##x *lock, unsigned cpu)                   \
	{                                                                      \
		klock::as_cpp(*lock).lock(cpu);                                \
	}                                                                      \
	void klock_##x##_unlock(klock_##x *lock, unsigned cpu)                 \
	{                                                                      \
		klock::as_cpp(*lock).unlock(cpu);                              \
	}                                                                      \
	int klock_##x##_is_locked(const klock_##x *lock)                       \
	{                                                                      \
		return klock::as_cpp(*lock).is_locked();                       \
	}                                                                      \
	unsigned long klock_##x##_lock_irqsave(klock_##x *lock,                \
					       unsigned (*cpu_id)())           \
	{                                                                      \
		return klock::c::lock_irqsave(lock, cpu_id);                   \
	}                                                                      \
	void klock_##x##_unlock_irqrestore(                                    \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long before)   \
	{                                                                      \
		klock::c::unlock_irqrestore(lock, before, cpu_id);             \
	}                                                                      \
	KLOCK_C_CONTENDED_VERB(x)

#define KLOCK_C_BAKERY(x)                                                      \
	void klock_##x##_init(klock_##x *lock)                                 \
	{                                                                      \
		/* One by one: a loop would become a call of memset(). */      \
		for (unsigned volatile &number : lock->klock_number)           \
			number = 0;                                            \
	}                                                                      \
	KLOCK_C_NUMBERED(x)

#define KLOCK_C_TIMEOUT(x)                                                     \
	void klock_##x##_init(klock_##x *lock) { klock::c::init(lock); }       \
	KLOCK_C_NUMBERED(x)                                                    \
	int klock_##x##_try_lock(klock_##x *lock, unsigned cpu)                \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock(cpu);                     \
	}                                                                      \
	int klock_##x##_try_lock_irqsave(                                      \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long *before)  \
	{                                                                      \
		return klock::c::try_lock_irqsave(lock, before, cpu_id);       \
	}                                                                      \
	int klock_##x##_try_lock_until(klock_##x *lock, unsigned cpu,          \
				       unsigned long long deadline)            \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_until(cpu, deadline);     \
	}                                                                      \
	int klock_##x##_try_lock_for(klock_##x *lock, unsigned cpu,            \
				     unsigned long long cycles)                \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_for(cpu, cycles);         \
	}
