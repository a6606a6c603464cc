/* SPDX-License-Identifier: MIT */
/*
 * concepts - the three ways in which a lock is taken
 *
 *	plain_lock	lock()		the lock alone
 *	node_lock	lock(node)	and a node that is lent to it (MCS)
 *	cpu_lock	lock(cpu)	and the caller's number, 0 .. CPUs - 1
 *
 * A lock is exactly one of them; guard, irq_guard and the self-tests take any.
 * Some locks can also be taken to read, by several CPUs at once:
 *
 *	shared_lockable	lock_shared()		or lock_shared(cpu)
 *	upgradable_lock	lock_upgradable()	by one who may write later
 *	downgradable_lock  downgrade()		a writer goes on as a reader
 *
 * A waiter can do something else while it waits: lock(serve) of a serving_lock.
 */
#pragma once

#include <klock/types.hpp>

namespace klock {

namespace detail {
template <typename T, typename U>
inline constexpr bool is_same = false;
template <typename T>
inline constexpr bool is_same<T, T> = true;
} // namespace detail

template <typename T, typename U>
concept same_as = detail::is_same<T, U>;

template <typename L>
concept plain_lock = requires(L &lock) {
	lock.lock();
	lock.unlock();
};

/*
 * lock(serve) is lock() for a CPU with interrupts off, to which the holder may
 * send an IPI and wait for the answer. While another CPU holds the lock, it
 * calls serve() again and again, which does what the IPI's handler does. It
 * does not call serve() if the lock is free, nor once the caller holds it (a
 * checked lock calls it once at a free lock if the kernel has a lock order).
 * The IPI still comes, once interrupts are on. serve() must not wait for a
 * holder of this lock or for one of its waiters: a lock that it takes comes
 * after this one in the order. A handoff may be later by one serve().
 */
template <typename L>
concept serving_lock =
	plain_lock<L> && requires(L &lock, void serve()) { lock.lock(serve); };

template <typename L>
concept node_lock = requires(L &lock, typename L::node &node) {
	lock.lock(node);
	lock.unlock(node);
};

template <typename L>
concept cpu_lock = requires(L &lock, unsigned cpu) {
	lock.lock(cpu);
	lock.unlock(cpu);
};

/*
 * A plain lock whose waiters use nodes of their CPU. lock() asks for the CPU's
 * number; lock_from() is given it.
 */
template <typename L>
concept per_cpu_lock = plain_lock<L> && requires(L &lock, unsigned cpu) {
	lock.lock_from(cpu);
	L::forget_waits(cpu);
	{
		L::has_node(cpu)
	} -> same_as<bool>;
};

template <typename L>
concept any_lock = plain_lock<L> || node_lock<L> || cpu_lock<L>;

/* A node_lock whose nodes may be freed as soon as unlock() has returned. */
template <typename L>
concept stack_node_lock = node_lock<L> && L::node_may_live_on_stack;

/* Locks with a try_lock(), taken in any of the three ways. */
template <typename L>
concept try_plain_lock = plain_lock<L> && requires(L &lock) {
	{
		lock.try_lock()
	} -> same_as<bool>;
};

template <typename L>
concept try_node_lock =
	node_lock<L> && requires(L &lock, typename L::node &node) {
		{
			lock.try_lock(node)
		} -> same_as<bool>;
	};

template <typename L>
concept try_cpu_lock = cpu_lock<L> && requires(L &lock, unsigned cpu) {
	{
		lock.try_lock(cpu)
	} -> same_as<bool>;
};

/* Locks whose waits may have a deadline: see timeout_lock.hpp. */
template <typename L>
concept timed_lockable =
	try_cpu_lock<L> && requires(L &lock, unsigned cpu, u64 deadline) {
		{
			lock.try_lock_until(cpu, deadline)
		} -> same_as<bool>;
	};

/* Locks that several readers take together; a writer takes it alone, by
 * lock(). */
template <typename L>
concept plain_shared_lock = any_lock<L> && requires(L &lock) {
	lock.lock_shared();
	lock.unlock_shared();
};

template <typename L>
concept cpu_shared_lock = any_lock<L> && requires(L &lock, unsigned cpu) {
	lock.lock_shared(cpu);
	lock.unlock_shared(cpu);
};

template <typename L>
concept shared_lockable = plain_shared_lock<L> || cpu_shared_lock<L>;

template <typename L>
concept try_plain_shared_lock = plain_shared_lock<L> && requires(L &lock) {
	{
		lock.try_lock_shared()
	} -> same_as<bool>;
};

template <typename L>
concept try_cpu_shared_lock =
	cpu_shared_lock<L> && requires(L &lock, unsigned cpu) {
		{
			lock.try_lock_shared(cpu)
		} -> same_as<bool>;
	};

template <typename L>
concept try_shared_lockable =
	try_plain_shared_lock<L> || try_cpu_shared_lock<L>;

/* Shared locks in which one reader at a time may become the writer. */
template <typename L>
concept upgradable_lock = plain_shared_lock<L> && requires(L &lock) {
	lock.lock_upgradable();
	lock.upgrade();
	lock.unlock_upgradable();
};

/* Shared locks whose writer may become a reader. */
template <typename L>
concept downgradable_lock = plain_lock<L> && plain_shared_lock<L> &&
			    requires(L &lock) { lock.downgrade(); };

template <typename L>
concept try_lockable = try_plain_lock<L> || try_node_lock<L> || try_cpu_lock<L>;

/* Locks whose type says in which contexts they are taken: irq_lock.hpp. */
template <typename L>
concept irq_only_lock = requires { typename L::taken_by_irq_guard_alone; };
template <typename L>
concept thread_only_lock = requires { typename L::taken_in_threads_alone; };

/* Locks whose waiters give their CPU away: mutex.hpp and the like. */
template <typename L>
concept sleeping = requires { typename L::waiters_sleep; };

/* Locks that their holder may take again: recursive_lock.hpp. */
template <typename L>
concept recursive = requires { typename L::taken_again_by_its_holder; };

/* Locks that know their owner, and panic if another releases them:
 * inheriting_mutex.hpp. */
template <typename L>
concept owned_lock = requires(const L &lock) { lock.is_owned_by_me(); };

/* Locks read by handlers, and by threads with interrupts on:
 * irq_shared_lock.hpp. */
template <typename L>
concept interruptible_shared_lock =
	irq_only_lock<L> && requires { typename L::read_with_interrupts_on; };

namespace detail {
/* The lock inside an irq_lock; for any other lock, the lock itself. */
template <typename L>
struct inside_type {
	using type = L;
};
template <irq_only_lock L>
struct inside_type<L> {
	using type = typename L::taken_by_irq_guard_alone;
};
template <typename L>
using inside = typename inside_type<L>::type;

/* An annotated_lock: its own guards take it, which clang's analysis reads. */
template <typename L>
concept annotated = requires { typename L::annotated; };

/* Constants about readers, for a lock around L. */
template <typename L>
struct reader_constants_of {};
template <shared_lockable L>
struct reader_constants_of<L> {
	static constexpr u64 max_readers = L::max_readers;
};

/* A lock around L inherits these: irq_lock and guards look for the types. */
template <typename L>
struct sleeps_of {};
template <sleeping L>
struct sleeps_of<L> {
	using waiters_sleep = void;
};
template <typename L>
struct recursive_of {};
template <recursive L>
struct recursive_of<L> {
	using taken_again_by_its_holder = void;
};
/* A recursive_lock, or a guard of it of another library's. */
template <typename Held>
concept held_deeper = recursive<Held> || requires {
	requires recursive<typename Held::mutex_type>;
};
template <typename L>
struct threads_of {};
template <thread_only_lock L>
struct threads_of<L> {
	using taken_in_threads_alone = L;
};
} // namespace detail

} // namespace klock
