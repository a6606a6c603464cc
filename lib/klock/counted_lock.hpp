/* SPDX-License-Identifier: MIT */
/*
 * counted_lock - any lock that has a try_lock(), and how it is waited for
 *
 *	constinit klock::counted_if<counts, klock::ticket_lock<klock::u8>,
 *				    "runqueue"> lock;
 *	...
 *	klock::print_counts([](const char *line) { put(line), put("\n"); });
 *
 * Algorithm:   A lock that counts. lock() tries first: where that takes it,
 *              one more is counted; else it reads the clock, waits as the lock
 *              does, reads the clock again, and counts the wait. The lock's
 *              holder counts, by plain loads and stores.
 * Source:      the idea of Linux's lockstat document: which lock is waited
 *              for, how often and how long, is asked of the running kernel;
 *              the code is ours.
 * Use when:    you look for the lock that your kernel waits for. A table:
 *              print_counts.hpp. counted_if<counts, L, "name"> is L itself
 *              where counts is false.
 * Size:        the lock inside, 29 bytes (17 on 32 bits), and then a cache
 *              line          Checked: unit/counted_lock: sizes
 * Zero bytes:  free and never counted, where the lock inside is free when zero
 *                          Checked: unit/counted_lock: zero bytes
 * Lifetime:    a lock that was ever waited for is in a list: before its
 *              memory is used for anything else, forget_counts(lock). unlock()
 *              is that of the lock inside     Checked: unit/counted_lock: gone
 * Fairness:    that of the lock inside, which a try_lock() keeps: it takes
 *              what nobody waits for. The place of a CPU that has tried in
 *              vain is that of its lock(), just after.
 *                          Checked: model/counted_lock: order of service
 * Capacity:    that of the lock inside
 *                          Checked: unit/counted_lock: any lock
 * Context:     that of the lock inside. It stands inside of others:
 *              checked_if<debug, counted_lock<L>>, irq_lock<counted_lock<L>>.
 * Assumes:     what the lock inside assumes
 *
 * State (of L):  as L
 *
 * Ordering:    that of the lock inside orders its holders' counting
 *                          Checked: model/counted_lock: counts
 *
 * A try_lock() that takes it is counted as an acquisition, one in vain is not.
 * try_lock_until() and lock_paced() wait where their try is in vain. Of readers
 * nothing is counted; a writer's wait for them is. A wait is counted when it is
 * over: who waits for ever is print_held.hpp's business.
 *
 * counted_lock<hold_times<L>, "name"> notes besides how long it is held, which
 * reads the clock twice at each acquisition.
 *
 * Cost:        uncontended: that of the lock's own try_lock(), one load and
 *              one store more, no RMW; contended: a look before it waits, two
 *              looks at the clock and a line of its own
 *                                      Checked: codegen/guards
 */
#pragma once

#include <klock/checked_calls.hpp>
#include <klock/checked_parts.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/lock_counts.hpp>
#include <klock/types.hpp>

namespace klock {

/* L, and a counted_lock of it notes how long it is held. */
template <any_lock L>
struct hold_times : L {
	/* What a counted_lock looks for. */
	using hold_times_of = L;
	using L::L;
};

namespace detail {
template <typename L>
concept notes_holds = requires
{
	typename L::hold_times_of;
};
template <typename L>
concept notes_misuse = requires(const L &lock)
{
	lock.is_held_by_me();
};

/* A name, or none. */
struct no_name {
	static constexpr const char *chars = nullptr;
};
template <lock_name... Name>
struct name_of : no_name {
};
template <lock_name Name>
struct name_of<Name> {
	static constexpr lock_name text = Name;
	static constexpr const char *chars = text.chars;
};
} // namespace detail

/* The name may be left out, and given at run time (set_name()). */
template <any_lock L, lock_name... Name>
struct counted_lock : L {
	static_assert(sizeof...(Name) <= 1, "one name");
	static_assert(try_lockable<L>,
		      "counted_lock asks before it waits: L has no try_lock()");
	static_assert(!detail::notes_misuse<L>,
		      "checked_if<debug, counted_lock<L>>: the other way round "
		      "checks see but a try_lock()");

	using L::L;

	/* -- As L; with: nothing, the node, or the CPU's number -- */

	/* Tries, then waits. */
	template <typename... With>
	requires requires(L &l, With &...with) { l.lock(with...); }
	void lock(With &&...with)
	{
		if (L::try_lock(with...))
			is_free();
		else
			wait([&] { L::lock(with...); });
	}

	/* Of a lock that CPUs have nodes for: as queued_lock. */
	void lock_from(unsigned cpu) requires per_cpu_lock<L>
	{
		if (L::try_lock())
			is_free();
		else
			wait([&] { L::lock_from(cpu); });
	}

	/* With a pace of the caller's. */
	template <typename Pace>
	requires requires(L &l, Pace &pace) { l.lock_paced(pace); }
	void lock_paced(Pace &&pace)
	{
		if (L::try_lock())
			is_free();
		else
			wait([&] { L::lock_paced(pace); });
	}

	/* Counted where it takes the lock. */
	template <typename... With>
	requires requires(L &l, With &...with) { l.try_lock(with...); }
	[[nodiscard]] bool try_lock(With &&...with)
	{
		if (!L::try_lock(with...))
			return false;
		is_free();
		return true;
	}

	/* Waits until a deadline; counted as a wait where it takes the lock. */
	[[nodiscard]] bool
	try_lock_until(unsigned cpu, u64 deadline) requires timed_lockable<L>
	{
		if (try_lock(cpu))
			return true;
		return wait([&] { return L::try_lock_until(cpu, deadline); });
	}
	/* The same for so many cycles. */
	[[nodiscard]] bool try_lock_for(unsigned cpu,
					u64 how_long) requires timed_lockable<L>
	{
		return try_lock_until(cpu, deadline_in(how_long));
	}

	/* Counts nothing, but where hold_times are wanted. */
	template <typename... With>
	requires requires(L &l, With &...with) { l.unlock(with...); }
	void unlock(With &&...with)
	{
		if constexpr (detail::notes_holds<L>) {
			counts.prepare(waits, name);
			waits.end_hold();
		}
		L::unlock(with...);
	}

	/* -- What only a counted lock has -- */

	/* Before others use it; the text must live as long. */
	void set_name(const char *text) { counts.set_name(text, 0); }
	void set_name(const char *text, u32 element)
	{
		counts.set_name(text, element + 1);
	}

	/* Into the table, though nobody has waited for it yet. */
	void list_counts() { counts.list(waits, name); }

	/* Out of it, before its memory is used for anything else. */
	void forget_counts() { counted_locks.remove(counts); }

      private:
	static constexpr const char *name = detail::name_of<Name...>::chars;

	void is_free()
	{
		counts.count();
		if constexpr (detail::notes_holds<L>)
			waits.begin_hold();
	}

	/* False: it gave up. */
	template <typename Wait>
	[[gnu::noinline]] bool wait(Wait take)
	{
		const u64 since = cycles();

		if constexpr (same_as<decltype(take()), bool>) {
			if (!take())
				return false;
		} else {
			take();
		}
		counts.prepare(waits, name);
		waits.count(cycles() - since);
		if constexpr (detail::notes_holds<L>)
			waits.begin_hold();
		return true;
	}

	lock_counts counts;
	wait_counts waits;
};

/*
 * counted_lock<L, Name> where Counts, L itself where not: then not a byte and
 * not an instruction more. The name may be left out.
 */
template <bool Counts, any_lock L, lock_name... Name>
using counted_if =
	typename detail::chosen<Counts, L, counted_lock<L, Name...>>::type;

/* Of any lock, one that is inside of another too; of others nothing. */
template <any_lock L>
void list_counts(L &lock)
{
	if constexpr (requires { lock.list_counts(); })
		lock.list_counts();
}
template <any_lock L>
void forget_counts(L &lock)
{
	if constexpr (requires { lock.forget_counts(); })
		lock.forget_counts();
}

} // namespace klock
