/* SPDX-License-Identifier: MIT */
/*
 * threads - what the C and the C++ library have for threads, by the checker's
 * operations
 */
#include "threads.hpp"

#include <model/access.hpp>
#include <model/body.hpp>
#include <model/model.hpp>
#include <model/places.hpp>

#include <algorithm>
#include <cerrno>
#include <pthread.h>
#include <vector>

/*
 * mutexes - pthread's, of which the C++ library makes its own
 *
 * The first word of one is its location: 0, or who holds it, or how many do.
 */

namespace klock_own {
namespace {

using namespace klock::arch::hooked;
using klock::order;
using klock::u32;
using klock::u64;
using klock::usize;

unsigned statics; /* of a world that are being made: they nest */

/* The words of those that were used in this execution. */
std::vector<const void *> locks;

constexpr u64 written = u64{1} << 31;

klock::arch::site at(const void *caller)
{
	return model::detail::place_of_return(caller);
}

void note_lock(const void *word)
{
	const model::detail::checker_runs now;

	if (std::find(locks.begin(), locks.end(), word) == locks.end())
		locks.push_back(word);
}

/*
 * Returns the window on the lock's first word. All bytes behind the words that
 * are known must be 0: other features are refused.
 */
template <typename Lock>
window word_of(const Lock *l, usize also, const void *caller)
{
	const auto *const bytes = reinterpret_cast<const unsigned char *>(l);
	const model::detail::checker_runs now;

	for (usize i = 4 + also; i < sizeof(*l); i++)
		if (bytes[i])
			model::detail::refuse(
				"a recursive or robust lock of pthread's, or "
				"one that was held before the CPUs run",
				caller);
	note_lock(l);
	return {l, 4, 0, 32, 0, holds::other};
}
window word_of(const pthread_mutex_t *m, const void *caller)
{
	return word_of(m, 0, caller);
}
/* Its second word: the CPU that writes. */
window word_of(const pthread_rwlock_t *l, const void *caller)
{
	return word_of(l, 4, caller);
}

u64 mine() { return 1 + model::cpu(); }

void wait_for(const window &w, u64 v, const void *caller)
{
	const auto is_free = [](void *, u64 now) { return now == 0; };

	running->await_exchange(w, v, {is_free, nullptr}, order::acquire,
				at(caller));
}

/* The result of pthread's functions. */
int swapped(const window &w, u64 from, u64 to, const void *caller)
{
	return running->compare_exchange_or(w, from, to, order::acquire,
					    order::relaxed, false, at(caller))
		       ? 0
		       : EBUSY;
}

void not_held(bool wrong, const void *caller)
{
	if (wrong)
		model::detail::misuse("unlock of a lock that is not held",
				      at(caller));
}

/* Outside a run; nobody else ends a wait of the look at the end. */
template <typename Lock>
int outside(Lock *l, int (*lock)(Lock *), int (*try_lock)(Lock *),
	    const void *caller)
{
	if (!leave_endless_wait)
		return lock(l);
	if (try_lock(l))
		leave_endless_wait(at(caller));
	return 0;
}

u32 &writer_of(pthread_rwlock_t *l, bool writes, const void *caller)
{
	u32 &writer = reinterpret_cast<u32 *>(l)[1];

	model::detail::plain_access(&writer, sizeof(writer), writes, caller);
	return writer;
}

int write_locked(pthread_rwlock_t *l, const void *caller)
{
	writer_of(l, true, caller) = static_cast<u32>(mine());
	return 0;
}

} // namespace
} // namespace klock_own
using namespace klock_own;

void model::detail::forget_locks() { locks.clear(); }

void model::detail::look_for_held(const void *from, klock::usize bytes,
				  const void *caller)
{
	const auto offset = [from](const void *word) {
		return static_cast<klock::usize>(
			static_cast<const char *>(word) -
			static_cast<const char *>(from));
	};

	for (const void *const word : locks)
		if (offset(word) < bytes && is_held(word))
			misuse("the end of a lock that is held",
			       place_of_return(caller));
}

extern "C" {

KLOCK_WRAPPED(int, pthread_mutex_trylock, pthread_mutex_t *m)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_mutex_trylock(m);
	return swapped(word_of(m, KLOCK_CALLER), 0, mine(), KLOCK_CALLER);
}
KLOCK_WRAPPED(int, pthread_mutex_lock, pthread_mutex_t *m)
{
	if (!model::detail::cpu_runs())
		return outside(m, __real_pthread_mutex_lock,
			       __real_pthread_mutex_trylock, KLOCK_CALLER);
	wait_for(word_of(m, KLOCK_CALLER), mine(), KLOCK_CALLER);
	return 0;
}
KLOCK_WRAPPED(int, pthread_mutex_unlock, pthread_mutex_t *m)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_mutex_unlock(m);
	not_held(running->rmw(word_of(m, KLOCK_CALLER), update::exchange, 0,
			      order::release, at(KLOCK_CALLER)) != mine(),
		 KLOCK_CALLER);
	return 0;
}
KLOCK_WRAPPED(int, pthread_mutex_init, pthread_mutex_t *m,
	      const pthread_mutexattr_t *how)
{
	model::detail::plain_access(m, sizeof(*m), true, KLOCK_CALLER);
	return __real_pthread_mutex_init(m, how);
}
KLOCK_WRAPPED(int, pthread_mutex_destroy, pthread_mutex_t *m)
{
	model::detail::look_for_held(m, sizeof(*m), KLOCK_CALLER);
	model::detail::storage_ends(m, sizeof(*m), KLOCK_CALLER);
	return model::detail::cpu_runs() ? 0 : __real_pthread_mutex_destroy(m);
}

KLOCK_WRAPPED(int, pthread_rwlock_trywrlock, pthread_rwlock_t *l)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_rwlock_trywrlock(l);
	return swapped(word_of(l, KLOCK_CALLER), 0, written, KLOCK_CALLER)
		       ? EBUSY
		       : write_locked(l, KLOCK_CALLER);
}
KLOCK_WRAPPED(int, pthread_rwlock_wrlock, pthread_rwlock_t *l)
{
	if (!model::detail::cpu_runs())
		return outside(l, __real_pthread_rwlock_wrlock,
			       __real_pthread_rwlock_trywrlock, KLOCK_CALLER);
	wait_for(word_of(l, KLOCK_CALLER), written, KLOCK_CALLER);
	return write_locked(l, KLOCK_CALLER);
}
KLOCK_WRAPPED(int, pthread_rwlock_tryrdlock, pthread_rwlock_t *l)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_rwlock_tryrdlock(l);

	const window w = word_of(l, KLOCK_CALLER);
	const u64 found = running->load(w, order::relaxed, at(KLOCK_CALLER));

	if (found >= written)
		return EBUSY;
	/* If it has changed since, another execution looks later. */
	model::assume(!swapped(w, found, found + 1, KLOCK_CALLER));
	return 0;
}
KLOCK_WRAPPED(int, pthread_rwlock_rdlock, pthread_rwlock_t *l)
{
	const auto may_read = [](void *, u64 now) { return now < written; };

	if (!model::detail::cpu_runs())
		return outside(l, __real_pthread_rwlock_rdlock,
			       __real_pthread_rwlock_tryrdlock, KLOCK_CALLER);

	/* Counted too early, it waits and is none: another came later. */
	const window w = word_of(l, KLOCK_CALLER);
	if (running->rmw(w, update::add, 1, order::acquire, at(KLOCK_CALLER)) <
	    written)
		return 0;
	running->await(w, {may_read, nullptr}, {}, order::relaxed,
		       at(KLOCK_CALLER));
	model::assume(false);
	return 0;
}
KLOCK_WRAPPED(int, pthread_rwlock_unlock, pthread_rwlock_t *l)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_rwlock_unlock(l);

	const window w = word_of(l, KLOCK_CALLER);
	const bool writes = writer_of(l, false, KLOCK_CALLER) == mine();
	if (writes)
		writer_of(l, true, KLOCK_CALLER) = 0;
	const u64 found =
		running->rmw(w, writes ? update::exchange : update::subtract,
			     !writes, order::release, at(KLOCK_CALLER));
	not_held(writes ? found < written : !found || found >= written,
		 KLOCK_CALLER);
	return 0;
}
KLOCK_WRAPPED(int, pthread_rwlock_init, pthread_rwlock_t *l,
	      const pthread_rwlockattr_t *how)
{
	model::detail::plain_access(l, sizeof(*l), true, KLOCK_CALLER);
	return __real_pthread_rwlock_init(l, how);
}
KLOCK_WRAPPED(int, pthread_rwlock_destroy, pthread_rwlock_t *l)
{
	model::detail::look_for_held(l, sizeof(*l), KLOCK_CALLER);
	model::detail::storage_ends(l, sizeof(*l), KLOCK_CALLER);
	return model::detail::cpu_runs() ? 0 : __real_pthread_rwlock_destroy(l);
}

/*
 * A function's static. One that a world makes outlives it, and is in the
 * ordinary heap; one that a CPU makes would be there in the next execution.
 */
KLOCK_WRAPPED(int, __cxa_guard_acquire, u64 *guard)
{
	if (model::detail::cpu_runs())
		model::detail::refuse(
			"a function's static that CPUs make: call "
			"the function before they run",
			KLOCK_CALLER);
	const int makes = __real___cxa_guard_acquire(guard);
	if (makes && (statics || model::detail::in_body)) {
		statics++;
		model::detail::in_body = false;
	}
	return makes;
}
KLOCK_WRAPPED(void, __cxa_guard_release, u64 *guard)
{
	__real___cxa_guard_release(guard);
	if (statics && !--statics)
		model::detail::in_body = true;
}
KLOCK_WRAPPED(void, __cxa_guard_abort, u64 *guard)
{
	__real___cxa_guard_abort(guard);
	if (statics && !--statics)
		model::detail::in_body = true;
}

} /* extern "C" */
