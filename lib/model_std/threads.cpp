/* SPDX-License-Identifier: MIT */
/*
 * threads - what the C and the C++ library have for threads, by the checker's
 * operations
 */
#include "threads.hpp"
#include "include/model/conditions.hpp"

#include <model/access.hpp>
#include <model/body.hpp>
#include <model/model.hpp>
#include <model/places.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <cxxabi.h>
#include <pthread.h>
#include <sys/time.h>
#include <utility>
#include <vector>

/*
 * mutexes - pthread's, of which the C++ library makes its own
 *
 * The first word of one is its location: 0, or who holds it, or how many do.
 */

namespace klock_own {
namespace {

using namespace klock::arch::hooked;
using i64 = std::int64_t;
using klock::order;
using klock::u32;
using klock::u64;
using klock::usize;

constinit thread_local int own_errno = 0;

unsigned statics; /* of a world that are being made: they nest */

/* The words of those that were used in this execution. */
std::vector<const void *> locks;

/* How often a CPU holds a recursive mutex. No other CPU can know it. */
struct depth {
	const pthread_mutex_t *of;
	unsigned cpu, times;
};
std::vector<depth> depths;

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

bool is_recursive(const pthread_mutex_t *m)
{
	const model::detail::checker_runs now;

	return m->__data.__kind == PTHREAD_MUTEX_RECURSIVE;
}

window first_word_of(const void *object)
{
	return {object, 4, 0, 32, 0, holds::other};
}

/*
 * Returns the window on the lock's first word. All bytes behind it, but `bytes`
 * of them at `known`, must be 0: other features are refused.
 */
template <typename Lock>
window word_of(const Lock *l, usize known, usize bytes, const void *caller)
{
	const auto *const all = reinterpret_cast<const unsigned char *>(l);
	const model::detail::checker_runs now;

	for (usize i = 4; i < sizeof(*l); i++)
		if (all[i] && i - known >= bytes)
			model::detail::refuse(
				"a robust or another unusual lock of "
				"pthread's, or one that was held before the "
				"CPUs run",
				caller);
	note_lock(l);
	return first_word_of(l);
}
window word_of(const pthread_mutex_t *m, const void *caller)
{
	return word_of(m, offsetof(pthread_mutex_t, __data.__kind),
		       is_recursive(m) ? sizeof(int) : 0, caller);
}
/* Its second word: the CPU that writes. */
window word_of(const pthread_rwlock_t *l, const void *caller)
{
	return word_of(l, 4, 4, caller);
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

unsigned &depth_of(const pthread_mutex_t *m)
{
	const model::detail::checker_runs now;
	const unsigned cpu = model::cpu();

	for (depth &d : depths)
		if (d.of == m && d.cpu == cpu)
			return d.times;
	depths.push_back({m, cpu, 0});
	return depths.back().times;
}

/* Whether the CPU has this recursive mutex, which it takes once more. */
bool takes_again(const pthread_mutex_t *m)
{
	if (!is_recursive(m) || !depth_of(m))
		return false;
	depth_of(m)++;
	return true;
}

int locked(const pthread_mutex_t *m)
{
	if (is_recursive(m))
		depth_of(m) = 1;
	return 0;
}

int take_mutex(const pthread_mutex_t *m, const void *caller)
{
	const window w = word_of(m, caller);

	if (takes_again(m))
		return 0;
	wait_for(w, mine(), caller);
	return locked(m);
}

int try_mutex(const pthread_mutex_t *m, const void *caller)
{
	const window w = word_of(m, caller);

	if (takes_again(m))
		return 0;
	return swapped(w, 0, mine(), caller) ? EBUSY : locked(m);
}

void give_mutex(const pthread_mutex_t *m, const void *caller)
{
	const window w = word_of(m, caller);

	if (is_recursive(m)) {
		not_held(!depth_of(m), caller);
		if (--depth_of(m))
			return;
	}
	not_held(running->rmw(w, update::exchange, 0, order::release,
			      at(caller)) != mine(),
		 caller);
}

/* The deadline may be over at any look that finds it locked. */
int take_until(const pthread_mutex_t *m, const timespec *deadline,
	       const void *caller)
{
	const auto is_free = [](void *, u64 now) { return now == 0; };
	const window w = word_of(m, caller);

	model::detail::plain_access(deadline, sizeof(*deadline), false, caller);
	if (takes_again(m))
		return 0;
	if (running->await_until(w, {is_free, nullptr}, 0, order::relaxed,
				 at(caller)))
		return ETIMEDOUT;
	/* If it has changed since, another execution looks later. */
	model::assume(!swapped(w, 0, mine(), caller));
	return locked(m);
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

void model::detail::set_errno(int what) { own_errno = what; }

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
	return try_mutex(m, KLOCK_CALLER);
}
KLOCK_WRAPPED(int, pthread_mutex_lock, pthread_mutex_t *m)
{
	if (!model::detail::cpu_runs())
		return outside(m, __real_pthread_mutex_lock,
			       __real_pthread_mutex_trylock, KLOCK_CALLER);
	return take_mutex(m, KLOCK_CALLER);
}
KLOCK_WRAPPED(int, pthread_mutex_timedlock, pthread_mutex_t *m,
	      const timespec *deadline)
{
	return model::detail::cpu_runs()
		       ? take_until(m, deadline, KLOCK_CALLER)
		       : __real_pthread_mutex_timedlock(m, deadline);
}
KLOCK_WRAPPED(int, pthread_mutex_clocklock, pthread_mutex_t *m, clockid_t clock,
	      const timespec *deadline)
{
	return model::detail::cpu_runs()
		       ? take_until(m, deadline, KLOCK_CALLER)
		       : __real_pthread_mutex_clocklock(m, clock, deadline);
}
KLOCK_WRAPPED(int, pthread_mutex_unlock, pthread_mutex_t *m)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_mutex_unlock(m);
	give_mutex(m, KLOCK_CALLER);
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

} /* extern "C" */

/*
 * condition variables - their first word has a bit for each CPU that waits
 *
 * A CPU sets its bit while it holds the mutex, and waits until somebody has
 * taken it away. So a notification reaches those that wait at that time, and
 * each choice among them is explored. It orders nothing: the mutex does.
 */

void model::detail::begin_wait(const void *c, site s)
{
	if (!running && leave_endless_wait)
		leave_endless_wait(s);
	if (!running)
		refuse("a wait with a condition variable outside of the CPUs",
		       KLOCK_CALLER);
	running->rmw(first_word_of(c), update::bit_or, u64{1} << model::cpu(),
		     order::relaxed, s);
}

bool model::detail::end_wait(const void *c, bool has_deadline, site s)
{
	const auto is_taken = [](void *bit, u64 now) {
		return !(now & *static_cast<u64 *>(bit));
	};
	u64 bit = u64{1} << model::cpu();
	window w = first_word_of(c);
	/* Another that was woken, too, may have destroyed it. */
	w.what = holds::ended;
	const klock::arch::hooked::test woken{is_taken, &bit};
	const bool is_late =
		has_deadline &&
		!woken(running->await_until(w, woken, 0, order::relaxed, s));

	if (is_late || (!has_deadline && happens_for_no_reason()))
		/* If it was woken meanwhile, another execution has that. */
		model::assume(running->rmw(w, update::bit_and, ~bit,
					   order::relaxed, s) &
			      bit);
	else if (!has_deadline)
		running->await(w, woken, {}, order::relaxed, s);
	return !is_late;
}

void model::detail::notify(const void *c, bool all, site s)
{
	const window w = first_word_of(c);

	if (!running)
		return;
	if (all) {
		running->rmw(w, update::exchange, 0, order::relaxed, s);
		return;
	}
	u64 waiting = running->load(w, order::relaxed, s);
	if (!waiting)
		return;
	const auto many = static_cast<unsigned>(std::popcount(waiting));
	u64 others = waiting;
	for (unsigned before = model::choose(many); before; before--)
		others &= others - 1;
	const u64 chosen = others & -others;
	/* If it has changed since, another execution looks later. */
	model::assume(running->compare_exchange_or(
		w, waiting, waiting & ~chosen, order::relaxed, order::relaxed,
		false, s));
}

void model::detail::end_condition(const void *c, usize bytes,
				  const void *caller)
{
	if (!running)
		return;
	if (running->rmw(first_word_of(c), update::bit_or, 0, order::relaxed,
			 at(caller)))
		misuse("a condition variable is destroyed while a CPU waits "
		       "with it",
		       at(caller));
	/* Where plain stores are not told, it may be made anew there. */
	if (sees_plain())
		storage_ends(c, bytes, caller);
}

namespace klock_own {
namespace {

int wait_with(pthread_cond_t *c, pthread_mutex_t *m, const timespec *deadline,
	      const void *caller)
{
	const auto s = at(caller);

	if (deadline)
		model::detail::plain_access(deadline, sizeof(*deadline), false,
					    caller);
	model::detail::begin_wait(c, s);
	give_mutex(m, caller);
	const bool woken = model::detail::end_wait(c, deadline, s);
	take_mutex(m, caller);
	return woken ? 0 : ETIMEDOUT;
}

} // namespace
} // namespace klock_own

extern "C" {

KLOCK_WRAPPED(int, pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m)
{
	return model::detail::cpu_runs()
		       ? wait_with(c, m, nullptr, KLOCK_CALLER)
		       : __real_pthread_cond_wait(c, m);
}
KLOCK_WRAPPED(int, pthread_cond_timedwait, pthread_cond_t *c,
	      pthread_mutex_t *m, const timespec *deadline)
{
	return model::detail::cpu_runs()
		       ? wait_with(c, m, deadline, KLOCK_CALLER)
		       : __real_pthread_cond_timedwait(c, m, deadline);
}
KLOCK_WRAPPED(int, pthread_cond_clockwait, pthread_cond_t *c,
	      pthread_mutex_t *m, clockid_t clock, const timespec *deadline)
{
	return model::detail::cpu_runs()
		       ? wait_with(c, m, deadline, KLOCK_CALLER)
		       : __real_pthread_cond_clockwait(c, m, clock, deadline);
}
KLOCK_WRAPPED(int, pthread_cond_signal, pthread_cond_t *c)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_cond_signal(c);
	model::detail::notify(c, false, at(KLOCK_CALLER));
	return 0;
}
KLOCK_WRAPPED(int, pthread_cond_broadcast, pthread_cond_t *c)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_cond_broadcast(c);
	model::detail::notify(c, true, at(KLOCK_CALLER));
	return 0;
}
KLOCK_WRAPPED(int, pthread_cond_init, pthread_cond_t *c,
	      const pthread_condattr_t *how)
{
	model::detail::storage_ends(c, sizeof(*c), KLOCK_CALLER);
	model::detail::plain_access(c, sizeof(*c), true, KLOCK_CALLER);
	return __real_pthread_cond_init(c, how);
}
KLOCK_WRAPPED(int, pthread_cond_destroy, pthread_cond_t *c)
{
	if (!model::detail::cpu_runs())
		return __real_pthread_cond_destroy(c);
	model::detail::end_condition(c, sizeof(*c), KLOCK_CALLER);
	return 0;
}

/* -- Once, and who runs ---------------------------------------------------- */

/* Its word: nothing, one who is at it, done; as glibc has them. */
KLOCK_WRAPPED(int, pthread_once, pthread_once_t *o, void (*what)())
{
	constexpr u64 nobody = 0, at_it = 1, done = 2;
	const auto is_over = [](void *, u64 now) { return now != at_it; };

	if (!model::detail::cpu_runs())
		return __real_pthread_once(o, what);
	const window w = first_word_of(o);
	const auto s = at(KLOCK_CALLER);
	for (;;) {
		u64 found = nobody;
		if (running->compare_exchange_or(w, found, at_it,
						 order::acquire, order::acquire,
						 false, s))
			break;
		if (found == at_it)
			found = running->await(w, {is_over, nullptr}, {},
					       order::acquire, s);
		if (found == done)
			return 0;
	}
	try {
		what();
	} catch (...) {
		running->store(w, nobody, order::release, s);
		throw;
	}
	running->store(w, done, order::release, s);
	return 0;
}
/* A CPU's is an address that nothing else has. */
KLOCK_WRAPPED(pthread_t, pthread_self)
{
	static const char names[16] = {};

	return model::detail::cpu_runs()
		       ? reinterpret_cast<pthread_t>(&names[model::cpu()])
		       : __real_pthread_self();
}
/* Functions that would set it are refused, or set it by set_errno(); but those
 * of arithmetic. */
KLOCK_WRAPPED(int *, __errno_location)
{
	return model::detail::cpu_runs() ? &own_errno
					 : __real___errno_location();
}

} /* extern "C" */

/*
 * keys - values of threads, which are CPUs here; 0: the world's maker
 *
 * A key that is made in an execution is gone with it.
 */

namespace klock_own {
namespace {

struct key {
	pthread_key_t number;
	void (*end)(void *);
};
struct key_value {
	pthread_key_t of;
	unsigned cpu;
	void *is;
};

/* Higher than any of the C library's. */
constexpr pthread_key_t first_key = 1u << 16;

std::vector<key> lasting, keys;
std::vector<key_value> values;
constinit thread_local bool has_values = false;

unsigned who() { return running ? 1 + model::cpu() : 0; }

void *&value_of(pthread_key_t of, unsigned cpu)
{
	for (key_value &v : values)
		if (v.of == of && v.cpu == cpu)
			return v.is;
	values.push_back({of, cpu, nullptr});
	return values.back().is;
}

/* Takes one value that has a destructor; null: there is none. */
key take_value(unsigned cpu, void *&value)
{
	const model::detail::checker_runs now;

	for (const std::vector<key> *all : {&lasting, &keys})
		for (const key &k : *all) {
			value = k.end ? value_of(k.number, cpu) : nullptr;
			value_of(k.number, cpu) = nullptr;
			if (value)
				return k;
		}
	return {0, nullptr};
}

/* The CPU has ended. A destructor may set a value anew. */
void end_values(void *)
{
	void *value = nullptr;

	while (const auto end = take_value(who(), value).end)
		end(value);
}

int make_key(pthread_key_t *to, void (*end)(void *), const void *caller)
{
	model::detail::plain_access(to, sizeof(*to), true, caller);
	const model::detail::checker_runs now;
	*to = first_key + static_cast<pthread_key_t>(keys.size());
	keys.push_back({*to, end});
	return 0;
}

void set_value(pthread_key_t of, const void *value)
{
	const model::detail::checker_runs now;

	value_of(of, who()) = const_cast<void *>(value);
}

} // namespace
} // namespace klock_own

extern "C" {

KLOCK_WRAPPED(int, pthread_key_create, pthread_key_t *to, void (*end)(void *))
{
	if (model::detail::in_body)
		return make_key(to, end, KLOCK_CALLER);
	const int failed = __real_pthread_key_create(to, end);
	if (!failed)
		lasting.push_back({*to, end});
	return failed;
}
KLOCK_WRAPPED(int, pthread_key_delete, pthread_key_t k)
{
	if (!model::detail::in_body)
		return __real_pthread_key_delete(k);
	const model::detail::checker_runs now;
	std::erase_if(values, [k](const key_value &v) { return v.of == k; });
	for (key &one : keys)
		if (one.number == k)
			one.end = nullptr;
	return 0;
}
KLOCK_WRAPPED(void *, pthread_getspecific, pthread_key_t k)
{
	if (!model::detail::in_body)
		return __real_pthread_getspecific(k);
	const model::detail::checker_runs now;
	return value_of(k, who());
}
KLOCK_WRAPPED(int, pthread_setspecific, pthread_key_t k, const void *value)
{
	if (!model::detail::in_body)
		return __real_pthread_setspecific(k, value);
	set_value(k, value);
	if (running && !std::exchange(has_values, true))
		abi::__cxa_thread_atexit(end_values, &has_values, nullptr);
	return 0;
}

} /* extern "C" */

/*
 * time - it stands still, and passes in a sleep
 *
 * But at any look at a clock it may have jumped, once for each CPU, beyond
 * every deadline: so whether one has passed is explored both ways.
 */

namespace klock_own {
namespace {

constexpr i64 second = 1'000'000'000, start = 1'000 * second,
	      start_of_system = 1'700'000'000 * second,
	      jump = 3'000'000'000 * second;

struct cpus_clock {
	i64 passed = 0;
	bool has_jumped = false;
} clocks[17];

i64 time_since(i64 first)
{
	cpus_clock &mine = clocks[who()];

	if (running && !mine.has_jumped)
		mine.has_jumped = model::choose(2);
	return first + mine.passed + (mine.has_jumped ? jump : 0);
}

i64 time_of(clockid_t clock)
{
	return time_since(clock == CLOCK_REALTIME ? start_of_system : start);
}

template <typename Time>
void put_time(Time *to, Time now, const void *caller)
{
	if (!to)
		return;
	model::detail::plain_access(to, sizeof(now), true, caller);
	const model::detail::checker_runs here;
	*to = now;
}

} // namespace
} // namespace klock_own

void model::detail::time_passes(klock::u64 nanoseconds)
{
	clocks[who()].passed += static_cast<i64>(nanoseconds);
}

extern "C" {

KLOCK_WRAPPED(i64, _ZNSt6chrono3_V212steady_clock3nowEv)
{
	return model::detail::in_body
		       ? time_since(start)
		       : __real__ZNSt6chrono3_V212steady_clock3nowEv();
}
KLOCK_WRAPPED(i64, _ZNSt6chrono3_V212system_clock3nowEv)
{
	return model::detail::in_body
		       ? time_since(start_of_system)
		       : __real__ZNSt6chrono3_V212system_clock3nowEv();
}
KLOCK_WRAPPED(int, clock_gettime, clockid_t clock, timespec *to)
{
	if (!model::detail::in_body)
		return __real_clock_gettime(clock, to);
	const i64 now = time_of(clock);
	put_time(to, {now / second, now % second}, KLOCK_CALLER);
	return 0;
}
KLOCK_WRAPPED(int, gettimeofday, timeval *to, void *zone)
{
	if (!model::detail::in_body)
		return __real_gettimeofday(to, zone);
	const i64 now = time_of(CLOCK_REALTIME);
	put_time(to, {now / second, now % second / 1'000}, KLOCK_CALLER);
	return 0;
}
KLOCK_WRAPPED(time_t, time, time_t *to)
{
	if (!model::detail::in_body)
		return __real_time(to);
	const time_t now = time_of(CLOCK_REALTIME) / second;
	put_time(to, now, KLOCK_CALLER);
	return now;
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

void model::detail::forget_threads()
{
	locks.clear();
	depths.clear();
	keys.clear();
	values.clear();
	for (cpus_clock &c : clocks)
		c = {};
}
