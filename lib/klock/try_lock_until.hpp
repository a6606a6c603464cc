/* SPDX-License-Identifier: MIT */
/*
 * try_lock_until, try_lock_for - try any lock until a deadline
 *
 *	if (!klock::try_lock_for(lock, one_second))	in cycles()
 *		return timed_out;
 *	klock::guard held(lock, klock::adopt);
 *
 *	klock::try_lock_until(mcs, node, deadline)
 *	klock::try_lock_until(lock, cpu, deadline)
 *
 * They take every lock with a try_lock(), and call that again and again with a
 * pause in between; at least once, even if the deadline has passed. So the
 * caller is in no queue: it leaves nothing behind when it gives up, but there
 * is no order. If others always wait by lock(), a FIFO lock is never free when
 * it is tried, and the deadline passes. timeout_lock has both an order and a
 * deadline. If a lock has a try_lock_until() of its own, as timeout_lock and
 * the sleeping mutex have, that is called.
 *
 * If the lock is checked and the caller itself holds it, the try fails at once.
 * A checked lock notes the line of the caller that waits for it.
 *
 * Context: that of the lock's try_lock(), for a caller that may wait so long.
 * Needs the CPU's clock: cycles_usable() (cpu.hpp).
 * Failure: orders nothing, and nothing is held.
 *               Checked: unit/try_lock_until, model/try_lock_until
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/types.hpp>

namespace klock {

namespace detail {

/*
 * with: the arguments of try_lock(); for a checked lock, the call site is the
 * last. A checked lock is told of the wait, so that its order is learned.
 */
template <typename L, typename... With>
bool ask_until(L &lock, u64 deadline, With &&...with)
{
	const auto again = [deadline](auto try_once) {
		for (;;) {
			if (try_once())
				return true;
			if (cycles() >= deadline)
				return false;
			cpu_relax();
		}
	};

	if constexpr (requires { lock.try_lock_until(deadline, with...); })
		return lock.try_lock_until(deadline, with...);
	else if constexpr (requires { lock.ask(again, with...); })
		return (recursive<L> || !lock.is_held_by_me()) &&
		       lock.ask(again, with...);
	else
		return again([&] { return lock.try_lock(with...); });
}

template <typename L, typename... With>
bool ask_until_by(site_of<L> by, L &lock, u64 deadline, With &...with)
{
	if constexpr (same_as<site_of<L>, call_site>)
		return ask_until(lock, deadline, with..., by);
	else
		return ask_until(lock, deadline, with...);
}

} // namespace detail

/* Tries until cycles() shows the deadline; true: the caller is the holder. */
template <try_plain_lock L>
[[nodiscard]] bool
try_lock_until(L &lock, u64 deadline,
	       detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return detail::ask_until_by(by, lock, deadline);
}

/* try_lock_until() for a lock that takes a node. */
template <try_node_lock L>
[[nodiscard]] bool
try_lock_until(L &lock, typename L::node &node, u64 deadline,
	       detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return detail::ask_until_by(by, lock, deadline, node);
}

/* try_lock_until() for a lock that takes its CPU's number. */
template <try_cpu_lock L>
[[nodiscard]] bool
try_lock_until(L &lock, unsigned cpu, u64 deadline,
	       detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	if constexpr (!timed_lockable<L>)
		return detail::ask_until_by(by, lock, deadline, cpu);
	else if constexpr (same_as<detail::site_of<L>, call_site>)
		return lock.try_lock_until(cpu, deadline, by);
	else
		return lock.try_lock_until(cpu, deadline);
}

/* Refuses the two in another order. */
template <try_cpu_lock L, same_as<u64> Time, same_as<unsigned> Cpu>
bool try_lock_until(L &lock, Time time, Cpu cpu)
{
	static_assert(!same_as<Cpu, unsigned>,
		      "try_lock_until(lock, cpu, deadline): first the CPU's "
		      "number");
	return try_lock_until(lock, cpu, time);
}

/* Tries for that many cycles from now. */
template <try_plain_lock L>
[[nodiscard]] bool
try_lock_for(L &lock, u64 how_long,
	     detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return try_lock_until(lock, deadline_in(how_long), by);
}

/* try_lock_for() for a lock that takes a node. */
template <try_node_lock L>
[[nodiscard]] bool
try_lock_for(L &lock, typename L::node &node, u64 how_long,
	     detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return try_lock_until(lock, node, deadline_in(how_long), by);
}

/* try_lock_for() for a lock that takes its CPU's number. */
template <try_cpu_lock L>
[[nodiscard]] bool
try_lock_for(L &lock, unsigned cpu, u64 how_long,
	     detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return try_lock_until(lock, cpu, deadline_in(how_long), by);
}

/* Refuses the two in another order. */
template <try_cpu_lock L, same_as<u64> Time, same_as<unsigned> Cpu>
bool try_lock_for(L &lock, Time time, Cpu cpu)
{
	static_assert(!same_as<Cpu, unsigned>,
		      "try_lock_for(lock, cpu, how_long): first the CPU's "
		      "number");
	return try_lock_for(lock, cpu, time);
}

} // namespace klock
