/* SPDX-License-Identifier: MIT */
/*
 * c_checked_functions - the bodies behind klock/checked.h, each shape once
 *
 * As c_functions.hpp; x: checked_tas and so on. A call site is one thing more
 * that goes with the lock.
 */
#pragma once

#include <klock/c_checked_lock.hpp>
#include <klock/c_functions.hpp>

namespace klock {
namespace c {

template <typename C>
	requires requires(C lock) { lock.klock_inner.klock_marks; }
void init(C *lock)
{
	init(&lock->klock_usage);
	init(&lock->klock_shared);
	init(&lock->klock_inner);
}

template <typename C>
	requires requires(C lock) { lock.klock_inner.klock_slots; }
void init(C *lock)
{
	init(&lock->klock_usage);
	init(&lock->klock_inner);
}

inline auto here(const char *file, int line)
{
	return [=] { return call_site{file, line}; };
}

} // namespace c
} // namespace klock

#define KLOCK_C_CHECKED(x)                                                     \
	void klock_##x##_init(klock_##x *lock) { klock::c::init(lock); }       \
	int klock_##x##_is_locked(const klock_##x *lock)                       \
	{                                                                      \
		return klock::as_cpp(*lock).is_locked();                       \
	}

#define KLOCK_C_CHECKED_PLAIN(x)                                               \
	KLOCK_C_CHECKED(x)                                                     \
	void klock_##x##_lock_at(klock_##x *lock, const char *file, int line)  \
	{                                                                      \
		klock::as_cpp(*lock).lock({file, line});                       \
	}                                                                      \
	void klock_##x##_unlock_at(klock_##x *lock, const char *file,          \
				   int line)                                   \
	{                                                                      \
		klock::as_cpp(*lock).unlock({file, line});                     \
	}                                                                      \
	unsigned long klock_##x##_lock_irqsave_at(klock_##x *lock,             \
						  const char *file, int line)  \
	{                                                                      \
		return klock::c::lock_irqsave(lock,                            \
					      klock::c::here(file, line));     \
	}                                                                      \
	void klock_##x##_unlock_irqrestore_at(klock_##x *lock,                 \
					      unsigned long before,            \
					      const char *file, int line)      \
	{                                                                      \
		klock::c::unlock_irqrestore(lock, before,                      \
					    klock::c::here(file, line));       \
	}

#define KLOCK_C_CHECKED_TRY(x)                                                 \
	int klock_##x##_try_lock_at(klock_##x *lock, const char *file,         \
				    int line)                                  \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock({file, line});            \
	}                                                                      \
	int klock_##x##_try_lock_irqsave_at(klock_##x *lock,                   \
					    unsigned long *before,             \
					    const char *file, int line)        \
	{                                                                      \
		return klock::c::try_lock_irqsave(lock, before,                \
						  klock::c::here(file, line)); \
	}                                                                      \
	int klock_##x##_try_lock_until_at(klock_##x *lock,                     \
					  unsigned long long deadline,         \
					  const char *file, int line)          \
	{                                                                      \
		return klock::c::try_lock_until(lock, deadline,                \
						klock::c::here(file, line));   \
	}                                                                      \
	int klock_##x##_try_lock_for_at(klock_##x *lock,                       \
					unsigned long long cycles,             \
					const char *file, int line)            \
	{                                                                      \
		return klock::c::try_lock_for(lock, cycles,                    \
					      klock::c::here(file, line));     \
	}

/* -- As those of the same names in checked.h -- */

#define KLOCK_C_CHECKED_PADDED(x)                                              \
	KLOCK_C_CHECKED_PLAIN(x)                                               \
	KLOCK_C_CONTENDED_VERB(x)

#define KLOCK_C_CHECKED_TAS(x)                                                 \
	KLOCK_C_CHECKED_PLAIN(x)                                               \
	KLOCK_C_CHECKED_TRY(x)

#define KLOCK_C_CHECKED_TICKET(x)                                              \
	KLOCK_C_CHECKED_TAS(x)                                                 \
	KLOCK_C_CONTENDED_VERB(x)

#define KLOCK_C_CHECKED_SHARED_VERBS(x)                                        \
	void klock_##x##_lock_shared_at(klock_##x *lock, const char *file,     \
					int line)                              \
	{                                                                      \
		klock::as_cpp(*lock).lock_shared({file, line});                \
	}                                                                      \
	void klock_##x##_unlock_shared_at(klock_##x *lock, const char *file,   \
					  int line)                            \
	{                                                                      \
		klock::as_cpp(*lock).unlock_shared({file, line});              \
	}                                                                      \
	int klock_##x##_try_lock_shared_at(klock_##x *lock, const char *file,  \
					   int line)                           \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_shared({file, line});     \
	}                                                                      \
	unsigned long klock_##x##_lock_shared_irqsave_at(                      \
		klock_##x *lock, const char *file, int line)                   \
	{                                                                      \
		return klock::c::lock_shared_irqsave(                          \
			lock, klock::c::here(file, line));                     \
	}                                                                      \
	int klock_##x##_try_lock_shared_irqsave_at(klock_##x *lock,            \
						   unsigned long *before,      \
						   const char *file, int line) \
	{                                                                      \
		return klock::c::try_lock_shared_irqsave(                      \
			lock, before, klock::c::here(file, line));             \
	}                                                                      \
	void klock_##x##_unlock_shared_irqrestore_at(                          \
		klock_##x *lock, unsigned long before, const char *file,       \
		int line)                                                      \
	{                                                                      \
		klock::c::unlock_shared_irqrestore(                            \
			lock, before, klock::c::here(file, line));             \
	}

#define KLOCK_C_CHECKED_READERS(x)                                             \
	KLOCK_C_CHECKED_TAS(x)                                                 \
	KLOCK_C_CHECKED_SHARED_VERBS(x)

#define KLOCK_C_CHECKED_READER(x)                                              \
	KLOCK_C_CHECKED_PLAIN(x)                                               \
	void klock_##x##_lock_shared_at(klock_##x *lock, unsigned cpu,         \
					const char *file, int line)            \
	{                                                                      \
		klock::as_cpp(*lock).lock_shared(cpu, {file, line});           \
	}                                                                      \
	void klock_##x##_unlock_shared_at(klock_##x *lock, unsigned cpu,       \
					  const char *file, int line)          \
	{                                                                      \
		klock::as_cpp(*lock).unlock_shared(cpu, {file, line});         \
	}                                                                      \
	int klock_##x##_try_lock_shared_at(klock_##x *lock, unsigned cpu,      \
					   const char *file, int line)         \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_shared(cpu,               \
							    {file, line});     \
	}                                                                      \
	unsigned long klock_##x##_lock_shared_irqsave_at(                      \
		klock_##x *lock, unsigned (*cpu_id)(), const char *file,       \
		int line)                                                      \
	{                                                                      \
		return klock::c::lock_shared_irqsave(                          \
			lock, cpu_id, klock::c::here(file, line));             \
	}                                                                      \
	int klock_##x##_try_lock_shared_irqsave_at(                            \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long *before,  \
		const char *file, int line)                                    \
	{                                                                      \
		return klock::c::try_lock_shared_irqsave(                      \
			lock, before, cpu_id, klock::c::here(file, line));     \
	}                                                                      \
	void klock_##x##_unlock_shared_irqrestore_at(                          \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long before,   \
		const char *file, int line)                                    \
	{                                                                      \
		klock::c::unlock_shared_irqrestore(                            \
			lock, before, cpu_id, klock::c::here(file, line));     \
	}

#define KLOCK_C_CHECKED_PROPORTIONAL(x)                                        \
	KLOCK_C_CHECKED_TICKET(x)                                              \
	KLOCK_C_SET_BASE(x)

#define KLOCK_C_CHECKED_QUEUED(x)                                              \
	KLOCK_C_CHECKED_TICKET(x)                                              \
	void klock_##x##_lock_from_at(klock_##x *lock, unsigned cpu,           \
				      const char *file, int line)              \
	{                                                                      \
		klock::as_cpp(*lock).lock_from(cpu, {file, line});             \
	}

#define KLOCK_C_CHECKED_BAKERY(x)                                              \
	KLOCK_C_CHECKED(x)                                                     \
	KLOCK_C_CONTENDED_VERB(x)                                              \
	void klock_##x##_lock_at(klock_##x *lock, unsigned cpu,                \
				 const char *file, int line)                   \
	{                                                                      \
		klock::as_cpp(*lock).lock(cpu, {file, line});                  \
	}                                                                      \
	void klock_##x##_unlock_at(klock_##x *lock, unsigned cpu,              \
				   const char *file, int line)                 \
	{                                                                      \
		klock::as_cpp(*lock).unlock(cpu, {file, line});                \
	}                                                                      \
	unsigned long klock_##x##_lock_irqsave_at(klock_##x *lock,             \
						  unsigned (*cpu_id)(),        \
						  const char *file, int line)  \
	{                                                                      \
		return klock::c::lock_irqsave(lock, cpu_id,                    \
					      klock::c::here(file, line));     \
	}                                                                      \
	void klock_##x##_unlock_irqrestore_at(                                 \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long before,   \
		const char *file, int line)                                    \
	{                                                                      \
		klock::c::unlock_irqrestore(lock, before, cpu_id,              \
					    klock::c::here(file, line));       \
	}

#define KLOCK_C_CHECKED_TIMEOUT(x)                                             \
	KLOCK_C_CHECKED_BAKERY(x)                                              \
	int klock_##x##_try_lock_at(klock_##x *lock, unsigned cpu,             \
				    const char *file, int line)                \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock(cpu, {file, line});       \
	}                                                                      \
	int klock_##x##_try_lock_irqsave_at(                                   \
		klock_##x *lock, unsigned (*cpu_id)(), unsigned long *before,  \
		const char *file, int line)                                    \
	{                                                                      \
		return klock::c::try_lock_irqsave(lock, before, cpu_id,        \
						  klock::c::here(file, line)); \
	}                                                                      \
	int klock_##x##_try_lock_until_at(klock_##x *lock, unsigned cpu,       \
					  unsigned long long deadline,         \
					  const char *file, int line)          \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_until(cpu, deadline,      \
							   {file, line});      \
	}                                                                      \
	int klock_##x##_try_lock_for_at(klock_##x *lock, unsigned cpu,         \
					unsigned long long cycles,             \
					const char *file, int line)            \
	{                                                                      \
		return klock::as_cpp(*lock).try_lock_for(cpu, cycles,          \
							 {file, line});        \
	}

#define KLOCK_C_CHECKED_NODE(x)                                                \
	KLOCK_C_CHECKED(checked_##x)                                           \
	int klock_checked_##x##_is_contended(const klock_checked_##x *lock,    \
					     const klock_##x##_node *mine)     \
	{                                                                      \
		return klock::as_cpp(*lock).is_contended(                      \
			klock::as_cpp(*mine));                                 \
	}                                                                      \
	void klock_checked_##x##_lock_at(klock_checked_##x *lock,              \
					 klock_##x##_node *mine,               \
					 const char *file, int line)           \
	{                                                                      \
		klock::as_cpp(*lock).lock(klock::as_cpp(*mine), {file, line}); \
	}                                                                      \
	void klock_checked_##x##_unlock_at(klock_checked_##x *lock,            \
					   klock_##x##_node *mine,             \
					   const char *file, int line)         \
	{                                                                      \
		klock::as_cpp(*lock).unlock(klock::as_cpp(*mine),              \
					    {file, line});                     \
	}                                                                      \
	unsigned long klock_checked_##x##_lock_irqsave_by_at(                  \
		klock_checked_##x *lock, klock_##x##_node *(*mine)(),          \
		const char *file, int line)                                    \
	{                                                                      \
		return klock::c::lock_irqsave(lock, klock::c::node_by(mine),   \
					      klock::c::here(file, line));     \
	}                                                                      \
	void klock_checked_##x##_unlock_irqrestore_by_at(                      \
		klock_checked_##x *lock, klock_##x##_node *(*mine)(),          \
		unsigned long before, const char *file, int line)              \
	{                                                                      \
		klock::c::unlock_irqrestore(lock, before,                      \
					    klock::c::node_by(mine),           \
					    klock::c::here(file, line));       \
	}
