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
 * try_lock_until() is called where the lock has one; so has a mutex, which
 * sleeps.
 *
 * A checked lock that the caller holds itself is given up at once: it cannot
 * come free. Of any other it is told who waits, by the caller's line.
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

/*
 * with: what the lock is tried with; of a checked lock the caller's place last.
 * One that is checked is told of the wait: an order is learned from it.
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
		return !lock.is_held_by_me() && lock.ask(again, with...);
	else
		return again([&] { return lock.try_lock(with...); });
}

/* Of an unchecked lock nobody asks where it is waited for. */
struct no_site {
	constexpr no_site(const char *, int) {}
};
template <typename L>
struct site_of_type {
	using type = no_site;
};
template <typename L>
	requires requires(L &lock) { lock.is_held_by_me(); }
struct site_of_type<L> {
	using type = call_site;
};
template <typename L>
using site_of = typename site_of_type<L>::type;

template <typename L, typename... With>
bool ask_until_by(site_of<L> by, L &lock, u64 deadline, With &...with)
{
	if constexpr (same_as<site_of<L>, call_site>)
		return ask_until(lock, deadline, with..., by);
	else
		return ask_until(lock, deadline, with...);
}

} // namespace detail

/* deadline: of cycles(). True: the caller is the holder. */
template <try_plain_lock L>
[[nodiscard]] bool
try_lock_until(L &lock, u64 deadline,
	       detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return detail::ask_until_by(by, lock, deadline);
}

/* The same of a lock that takes a node. */
template <try_node_lock L>
[[nodiscard]] bool
try_lock_until(L &lock, typename L::node &node, u64 deadline,
	       detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return detail::ask_until_by(by, lock, deadline, node);
}

/* The same of a lock that takes its CPU's number. */
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

/* The same for so many cycles from now. */
template <try_plain_lock L>
[[nodiscard]] bool
try_lock_for(L &lock, u64 how_long,
	     detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return try_lock_until(lock, deadline_in(how_long), by);
}

/* Of a lock that takes a node. */
template <try_node_lock L>
[[nodiscard]] bool
try_lock_for(L &lock, typename L::node &node, u64 how_long,
	     detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return try_lock_until(lock, node, deadline_in(how_long), by);
}

/* Of a lock that takes its CPU's number. */
template <try_cpu_lock L>
[[nodiscard]] bool
try_lock_for(L &lock, unsigned cpu, u64 how_long,
	     detail::site_of<L> by = caller_site<detail::site_of<L>>())
{
	return try_lock_until(lock, cpu, deadline_in(how_long), by);
}

} // namespace klock
