/* SPDX-License-Identifier: MIT */
/*
 * guard - takes a lock for the length of a block
 *
 *	{
 *		klock::guard held(lock);		any plain lock
 *		klock::guard held(bakery, cpu);		one indexed by CPU
 *		klock::guard held(mcs);			brings the node along
 *		klock::guard held(mcs, node);		a node that is lent
 *		klock::guard held(clh, my_node);	a node that outlives it
 *	}						unlocked here
 *
 * Without a number, a guard of a lock that is indexed by CPU asks the kernel
 * (klock/os.hpp). In place of a number or a node it takes a function, which
 * returns one; see irq_guard.hpp, where that matters.
 *
 * held.unlock() releases early, before the block ends; once. After it the guard
 * holds nothing, and its end and another unlock() do nothing.
 *
 *	if (!lock.try_lock())
 *		return busy;
 *	klock::guard held(lock, klock::adopt);		taken already
 *
 * So does a node: guard(mcs, node, adopt). A guard as the only statement of an
 * `if` without braces releases at its own semicolon.
 *
 *	klock::guard held(names);			a shared_mutex
 *	...
 *	held.downgrade();				held to read from here
 *
 * If the lock has a downgrade() (shared_mutex, rw_ticket_lock,
 * phase_fair_lock), guard and try_guard have it, too, and so have their forms
 * with interrupts off. Call it once, while the guard holds the lock. The guard
 * then releases by unlock_shared(). Do not call names.downgrade(): the guard
 * would not know, and would release by unlock().
 *
 * A guard without a name, klock::guard{lock}, would release at once: the
 * compiler warns. Two locks: pair_guard; without waiting: try_guard.
 *
 * Context: that of the lock inside. A lock that an interrupt handler takes too
 * needs irq_guard instead: the handler would wait for the code it interrupted.
 * Preemption: unchanged; lib/preempted has guards that disable it.
 * Recursion: a second guard of the same lock waits for ever. A guard stays on
 * the CPU, or with the thread, that made it: it is neither copied nor moved.
 * Size: a pointer; and the number, the node, or a pointer to it. With a
 * downgrade() a byte more. A checked lock's also keeps its caller.
 *					Checked: unit/guard: sizes
 * Cost: the instructions of lock() and unlock(), where the compiler inlines;
 * with the node inside, a load and a test more.
 *					Checked: codegen/guards
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/detail/arguments.hpp>
#include <klock/detail/one_preemption.hpp>
#include <klock/detail/taking.hpp>
#include <klock/types.hpp>

namespace klock {

template <typename L>
struct [[nodiscard]] guard
    : detail::guard_of<L, detail::to_write, detail::waiting,
		       detail::left_on<L>> {
	/* The lock, and the line it is named in. */
	using typename guard::guard_of::lock_here;

	/* with: nothing, the node, the CPU's number, or a function that returns
	 * one. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit guard(lock_here at, With &&...with)
	    : guard::guard_of(at, with...)
	{
	}
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] guard(lock_here at, adopting)
	    : guard::guard_of(adopt, at)
	{
		static_assert(!stack_node_lock<L>,
			      "adopt: with the node that the lock was taken "
			      "with: guard held(lock, node, klock::adopt)");
	}
	template <typename With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] guard(lock_here at, With &&with, adopting)
	    : guard::guard_of(adopt, at, with)
	{
	}
	/* Refused by one error. */
	template <typename With>
	guard(lock_here at, adopting, With &&) : guard::guard_of(adopt, at)
	{
		static_assert(detail::never<With>,
			      "adopt comes last: guard held(lock, node, "
			      "klock::adopt)");
	}
	[[gnu::always_inline]] ~guard() = default;
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;
};

template <typename L, typename... With>
guard(L &, With &&...) -> guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
guard(detail::lock_and_caller<L>, With &&...)
	-> guard<detail::guarded<L, With...>>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
guard(const L &&, With &&...) -> guard<const L>;

/*
 * try_guard - takes a lock for the length of a block if it is free now
 *
 *	if (klock::try_guard held{lock}) {
 *		...				held here
 *	}					unlocked here, if it was
 *
 *	klock::try_guard held(lock);
 *	if (!held)
 *		return busy;
 *
 * Takes what guard takes (guard.hpp); the lock must have a try_lock(). It is
 * true while it holds the lock, so not after held.unlock(). Without a name, if
 * (klock::try_guard{lock}) would release before the block begins: it does not
 * compile.
 *
 * Context: as guard; and an NMI handler, for a lock whose try_lock() allows it.
 * Failure: orders nothing, waits for nobody, changes nothing.
 */

template <typename L>
struct [[nodiscard]] try_guard
    : detail::guard_of<L, detail::to_write, detail::trying,
		       detail::left_on<L>> {
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit try_guard(typename try_guard::lock_here
							  at,
						  With &&...with)
	    : try_guard::guard_of(at, with...)
	{
	}
	/* Refused: an adopted lock needs no try. */
	try_guard(typename try_guard::lock_here, adopting) = delete;
	template <typename With>
	try_guard(typename try_guard::lock_here, With &&, adopting) = delete;
	[[gnu::always_inline]] ~try_guard() = default;
	try_guard(const try_guard &) = delete;
	try_guard &operator=(const try_guard &) = delete;
};

template <typename L, typename... With>
try_guard(L &, With &&...) -> try_guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
try_guard(detail::lock_and_caller<L>, With &&...)
	-> try_guard<detail::guarded<L, With...>>;
/* A temporary, which the guard refuses. */
template <typename L, typename... With>
try_guard(const L &&, With &&...) -> try_guard<const L>;

/*
 * pair_guard - takes two locks, in an order that cannot deadlock
 *
 *	{
 *		klock::pair_guard held(from.lock, to.lock);
 *	}					both unlocked here
 *
 *	klock::pair_guard held(ticket, klock::with(clh, my_node));
 *
 * The lock at the lower address is taken first, whatever the order in which
 * they are named: two CPUs that take the same two by pair_guard, or one by one
 * in that order, never wait for each other. That holds for any number of locks
 * that are only ever taken in pairs, by address. If both are the same lock, it
 * is taken once.
 *
 * The two may be of any kinds, but both must spin or both must sleep. For a
 * lock that needs a node or a number of the caller's, write with(lock, node),
 * which takes what guard takes. Without it, the kernel is asked for the number,
 * and an MCS lock's node is inside the guard. held.unlock() releases both
 * early. Three locks or more, or locks that have an order by what they are: one
 * guard after another.
 *
 * Context: that of both locks. Interrupts: irq_pair_guard.
 */

/* A lock, and the node or number that a pair_guard takes it with. */
template <typename L, typename With>
struct lock_with {
	/* Taken ... */
	L &lock;
	/* ... with this. */
	With &with;
};

/* For a guard's argument only: it refers to both. */
template <typename L, typename With>
	requires any_lock<detail::inside<L>>
[[nodiscard]] lock_with<L, With> with(L &lock, With &&given)
{
	return {lock, given};
}

namespace detail {

/* Each half of a pair leaves the interrupts to the pair. */
struct irqs_of_pair {
	static constexpr bool disables = true;

	void restore() {}
	void disable() {}
};

/* One argument of a pair_guard: a lock alone, or one with a node. */
template <typename Given>
struct half_of_pair;
template <guardable L>
struct half_of_pair<L &> {
	using taken = guard_of<L, to_write, later, irqs_of_pair>;
	using left = left_on<L>;

	static constexpr bool irq_only = irq_only_lock<L>;
	static constexpr bool sleeps = sleeping<inside<L>>;

	static taken make(L &) { return taken(later{}); }
	static L &lock(L &given) { return given; }
};
template <typename L, typename With>
struct half_of_pair<lock_with<L, With>> {
	using taken =
		guard_of<guarded<L, With &>, to_write, later, irqs_of_pair>;
	using left = left_on<L>;
	using given = const lock_with<L, With> &;
	static constexpr bool irq_only = irq_only_lock<L>;
	static constexpr bool sleeps = sleeping<inside<L>>;

	static taken make(given from) { return taken(later{}, from.with); }
	static L &lock(given from) { return from.lock; }
};

template <typename Given>
concept pairable = requires { typename half_of_pair<Given>::taken; };

/* Compares addresses, as two objects have no order in C++. */
inline bool lies_before(const void *a, const void *b)
{
	return reinterpret_cast<usize>(a) < reinterpret_cast<usize>(b);
}

/* The body of pair_guard and irq_pair_guard. */
template <typename A, typename B, typename Irqs>
struct pair_guard_of {
	/*
	 * No base in_a_block, as `first` has it: C++ would put two bases of one
	 * type at two addresses, 8 bytes apart.
	 */
	static void *operator new(usize) = delete;
	static void *operator new[](usize) = delete;

	template <typename First, typename Second>
	pair_guard_of(First &a, Second &b, call_site by)
	    : first(half_of_pair<A>::make(a)), second(half_of_pair<B>::make(b))
	{
		take(half_of_pair<A>::lock(a), half_of_pair<B>::lock(b), by);
	}
	pair_guard_of(const pair_guard_of &) = delete;
	pair_guard_of &operator=(const pair_guard_of &) = delete;

	/* Releases both before the block ends; interrupts are then as they
	 * were. */
	void unlock(call_site by = caller_site())
	{
		if (!first.is_held())
			return;
		second.unlock(by);
		first.unlock(by);
		irqs.restore();
	}

      private:
	template <typename L, typename M>
	void take(L &a, M &b, call_site by)
	{
		if (lies_before(&b, &a)) {
			second.lock({b, by});
			take_after(&b, first, a, by);
			return;
		}
		first.lock({a, by});
		if (lies_before(&a, &b))
			take_after(&a, second, b, by);
	}

	/* Tells a checked lock why it comes second. */
	template <typename Taken, typename L>
	static void take_after(const void *lower, Taken &half, L &lock,
			       call_site by)
	{
		if constexpr (requires { lock.after_lower(lower, [] {}); })
			lock.after_lower(lower, [&] { half.lock({lock, by}); });
		else
			half.lock({lock, by});
	}

	[[no_unique_address]] Irqs irqs;
	typename half_of_pair<A>::taken first;
	/* Holds nothing if both are the same lock. */
	typename half_of_pair<B>::taken second;
};

/* An irq_lock gets one error, which says what to write instead. */
template <typename A, typename B, typename Irqs>
	requires(!Irqs::disables &&
		 (half_of_pair<A>::irq_only || half_of_pair<B>::irq_only))
struct pair_guard_of<A, B, Irqs> {
	static_assert(never<A>, "an irq_lock is taken by irq_pair_guard: an "
				"interrupt handler takes it, too");

	template <typename First, typename Second>
	pair_guard_of(First &, Second &, call_site);
	void unlock();
};

} // namespace detail

template <detail::pairable A, detail::pairable B>
struct [[nodiscard]] pair_guard
    : detail::pair_guard_of<A, B, typename detail::half_of_pair<A>::left> {
	static_assert(detail::half_of_pair<A>::sleeps ==
			      detail::half_of_pair<B>::sleeps,
		      "a wait for the one of the two that sleeps could come "
		      "with the other held: take that one first, by a guard");

	/* a, b: a lock, or with(lock, node). */
	template <typename First, typename Second>
	[[nodiscard("a guard without a name releases at once")]] pair_guard(
		First &&a, Second &&b, call_site by = caller_site())
	    : pair_guard::pair_guard_of(a, b, by)
	{
	}
	pair_guard(const pair_guard &) = delete;
	pair_guard &operator=(const pair_guard &) = delete;
};

template <detail::pairable A, detail::pairable B>
pair_guard(A &&, B &&) -> pair_guard<A, B>;

} // namespace klock
