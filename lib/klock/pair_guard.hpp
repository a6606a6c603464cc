/* SPDX-License-Identifier: MIT */
/*
 * pair_guard - takes two locks, in an order that cannot deadlock
 *
 *	{
 *		klock::pair_guard held(from.lock, to.lock);
 *	}					both unlocked here
 *
 *	klock::pair_guard held(ticket, klock::with(clh, node));
 *
 * The lock at the lower address is taken first, whatever the order in which
 * they are named: two CPUs that take the same two by pair_guard, or one by one
 * in that order, never wait for each other. That holds for any number of locks
 * that are only ever taken in pairs, by address. The same lock twice is taken
 * once.
 *
 * The two may be of any kinds. One that needs a node or a number of the
 * caller's comes by with(lock, node), which takes what guard takes; without, a
 * number is asked of the kernel, and an MCS lock's node is inside of the guard.
 * held.unlock() releases both early. Three locks or more, or locks that have an
 * order by what they are: one guard after another.
 *
 * Context: that of both locks. Interrupts: irq_pair_guard.hpp.
 */
#pragma once

#include <klock/acquisition.hpp>
#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

/* A lock, and the node or number that a pair_guard takes it with. */
template <typename L, typename With>
struct lock_with {
	/* Taken ... */
	L &lock;
	/* ... with this. */
	With &with;
};

/* Only as a guard's argument: it refers to both. */
template <typename L, typename With>
	requires any_lock<detail::inside<L>>
[[nodiscard]] lock_with<L, With> with(L &lock, With &&given)
{
	return {lock, given};
}

namespace detail {

/* One argument of a pair_guard: a lock alone, or one with a node. */
template <typename Given>
struct half_of_pair;
template <guardable L>
struct half_of_pair<L &> {
	using taken = acquisition<L>;

	static constexpr bool irq_only = irq_only_lock<L>;

	static taken make(L &) { return taken(later{}); }
	static L &lock(L &given) { return given; }
};
template <typename L, typename With>
struct half_of_pair<lock_with<L, With>> {
	using taken = acquisition<guarded<L, With &>>;
	using given = const lock_with<L, With> &;
	static constexpr bool irq_only = irq_only_lock<L>;

	static taken make(given from) { return taken(later{}, from.with); }
	static L &lock(given from) { return from.lock; }
};

template <typename Given>
concept pairable = requires { typename half_of_pair<Given>::taken; };

/* Of two objects that have no order in C++: the one of their addresses. */
inline bool lies_before(const void *a, const void *b)
{
	return reinterpret_cast<usize>(a) < reinterpret_cast<usize>(b);
}

/* What pair_guard and irq_pair_guard have in common. */
template <typename A, typename B>
struct acquisition_pair {
	template <typename First, typename Second>
	acquisition_pair(First &a, Second &b, call_site by)
	    : first(half_of_pair<A>::make(a)), second(half_of_pair<B>::make(b))
	{
		take(half_of_pair<A>::lock(a), half_of_pair<B>::lock(b), by);
	}

	bool is_held() const { return first.is_held(); }

	void unlock(call_site by)
	{
		second.unlock(by);
		first.unlock(by);
	}

      private:
	template <typename L, typename M>
	void take(L &a, M &b, call_site by)
	{
		if (lies_before(&b, &a)) {
			second.lock({b, by});
			first.lock({a, by});
			return;
		}
		first.lock({a, by});
		if (lies_before(&a, &b))
			second.lock({b, by});
	}

	typename half_of_pair<A>::taken first;
	/* Holds nothing where both are the same lock. */
	typename half_of_pair<B>::taken second;
};

} // namespace detail

template <detail::pairable A, detail::pairable B>
struct [[nodiscard]] pair_guard {
	/* a, b: a lock, or with(lock, node). */
	template <typename First, typename Second>
	[[nodiscard("a guard without a name releases at once")]] pair_guard(
		First &&a, Second &&b, call_site by = caller_site())
	    : taken(a, b, by)
	{
	}
	pair_guard(const pair_guard &) = delete;
	pair_guard &operator=(const pair_guard &) = delete;

	/* Both, before the block ends. */
	void unlock(call_site by = caller_site()) { taken.unlock(by); }

      private:
	detail::acquisition_pair<A, B> taken;
};

/* Of an irq_lock: one error, and what to write instead. */
template <detail::pairable A, detail::pairable B>
	requires(detail::half_of_pair<A>::irq_only ||
		 detail::half_of_pair<B>::irq_only)
struct pair_guard<A, B> {
	static_assert(detail::never<A>,
		      "an irq_lock is taken by irq_pair_guard: an interrupt "
		      "handler takes it, too");

	/* Not there: the error above says what is. */
	template <typename First, typename Second>
	pair_guard(First &&, Second &&);
	/* Not there. */
	void unlock();
};

template <detail::pairable A, detail::pairable B>
pair_guard(A &&, B &&) -> pair_guard<A, B>;

} // namespace klock
