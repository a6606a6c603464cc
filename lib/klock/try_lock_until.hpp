/* SPDX-License-Identifier: MIT */
/*
 * try_lock_until, try_lock_for - asks for any lock until a deadline
 *
 *	if (!klock::try_lock_for(lock, one_second))	in cycles()
 *		return timed_out;
 *	klock::guard held(lock, klock::adopt);
 *
 *	klock::try_lock_until(mcs, node, deadline)
 *	klock::try_lock_until(lock, cpu, deadline)
 *
 * For every lock with a try_lock(), which is called again and again, a pause
 * between two: at least once, also where the deadline has passed. So who asks
 * stands in no line. Who gives up leaves nothing behind, but there is no order:
 * where others always wait by lock(), a FIFO lock is never seen free, and the
 * deadline comes. In order, and by a deadline: timeout_lock, whose own
 * try_lock_until() is called where the lock has one.
 *
 * A checked lock that the caller holds itself is given up at once: it cannot
 * come free.
 *
 * Context: as the lock's try_lock(); it waits as long as it is told. Needs the
 * CPU's clock: cycles_usable() (cpu.hpp).
 * Failure: orders nothing, and nothing is held.
 *               Checked: unit/try_lock_until, model/try_lock_until
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/types.hpp>

namespace klock {

namespace detail {
template <typename L, typename Try>
bool ask_until(L &lock, u64 deadline, Try try_once)
{
	if constexpr (requires { lock.is_held_by_me(); })
		if (lock.is_held_by_me())
			return false;
	for (;;) {
		if (try_once())
			return true;
		if (cycles() >= deadline)
			return false;
		cpu_relax();
	}
}
} // namespace detail

/* deadline: of cycles(). True: the caller is the holder. */
template <try_plain_lock L>
[[nodiscard]] bool try_lock_until(L &lock, u64 deadline)
{
	return detail::ask_until(lock, deadline,
				 [&lock] { return lock.try_lock(); });
}

/* The same of a lock that takes a node. */
template <try_node_lock L>
[[nodiscard]] bool try_lock_until(L &lock, typename L::node &node, u64 deadline)
{
	return detail::ask_until(lock, deadline,
				 [&] { return lock.try_lock(node); });
}

/* The same of a lock that takes its CPU's number. */
template <try_cpu_lock L>
[[nodiscard]] bool try_lock_until(L &lock, unsigned cpu, u64 deadline)
{
	if constexpr (timed_lockable<L>)
		return lock.try_lock_until(cpu, deadline);
	else
		return detail::ask_until(lock, deadline,
					 [&] { return lock.try_lock(cpu); });
}

/* The same for so many cycles from now. */
template <try_plain_lock L>
[[nodiscard]] bool try_lock_for(L &lock, u64 how_long)
{
	return try_lock_until(lock, deadline_in(how_long));
}

/* Of a lock that takes a node. */
template <try_node_lock L>
[[nodiscard]] bool try_lock_for(L &lock, typename L::node &node, u64 how_long)
{
	return try_lock_until(lock, node, deadline_in(how_long));
}

/* Of a lock that takes its CPU's number. */
template <try_cpu_lock L>
[[nodiscard]] bool try_lock_for(L &lock, unsigned cpu, u64 how_long)
{
	return try_lock_until(lock, cpu, deadline_in(how_long));
}

} // namespace klock
