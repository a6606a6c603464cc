/* SPDX-License-Identifier: MIT */
/*
 * leveled - the order of locks as numbers in their types
 *
 * leveled<L, 3> is a lock L of level 3. While it is held, only locks of higher
 * levels can be taken; anything else does not compile. So CPUs never wait for
 * each other. It is for kernels that know their order beforehand;
 * lock_order.hpp learns it.
 *
 * Taking a lock needs a token, holding<n>: the locks held so far have level n
 * or less. The guard that takes the lock is the next token, of its lock's
 * level. The first token is made where code begins: nothing_held in a thread,
 * and interrupted<n> in a handler, if the code that it interrupts holds level n
 * or less. Locks above n are then leveled<irq_lock<L>, m>, which nobody holds
 * with interrupts on.
 *
 * A function with a parameter "const holding<4> &so_far" takes locks above 4,
 * and its callers hold 4 or less; a template says so by the concept
 * holds_at_most<Token, 4>. An example: lib/docs/take-a-lock.md.
 *
 * Not found: the use of an outer token while an inner one lives, as C++ cannot
 * hide a name that is in scope; a second nothing_held in one thread; locks
 * taken by without_level(). lock_order finds these when they happen, with
 * leveled<checked_if<debug, L, "name">, 3>. Two locks of one level are never
 * held together, not even by pair_guard. held.unlock() does not lower the
 * level.
 *
 * Context: that of the lock inside. A token is neither copied nor stored.
 * Size: the lock's, and its guard's.		Checked: codegen/guards
 * Cost: not an instruction more than guard's; a function that is not inlined
 * is given the token's address.		Checked: codegen/guards
 * Source: Boyapati, Lee, Rinard, "Ownership Types for Safe Programming",
 * OOPSLA 2002: lock levels. There a compiler of its own checks them.
 */
#pragma once

#include <klock/guard.hpp>
#include <klock/irq_guard.hpp>

namespace klock {

/* A token: the locks that are held have this level or a lower one. */
template <unsigned Level>
struct holding {
	static constexpr unsigned held_level = Level;

	/* A token of a lower level serves, too. */
	template <unsigned Lower>
		requires(Lower < Level)
	constexpr holding(const holding<Lower> &)
	{
	}
	holding(const holding &) = delete;
	holding &operator=(const holding &) = delete;

      protected:
	constexpr holding() = default;
};

/* A token whose level is at most Most. */
template <typename Token, unsigned Most>
concept holds_at_most = Token::held_level <= Most;

/* A handler's first token: the code that it interrupted holds at most Level. */
template <unsigned Level>
struct interrupted : holding<Level> {
	explicit constexpr interrupted() = default;
};
/* The first token of a thread or a CPU. */
using nothing_held = interrupted<0>;

/* A lock L of this level. Only level_guard takes it. */
template <typename L, unsigned Level>
	requires any_lock<detail::inside<L>>
struct leveled : detail::around<L> {
	static_assert(Level > 0, "level 0 is that of holding nothing");

	using taken_by_level_guard_alone = L;

	using detail::around<L>::around;

	/* Returns L itself, for is_locked(), or for a guard that tries or
	 * reads. */
	[[nodiscard]] L &without_level() { return this->inner; }
};

namespace detail {
template <typename L, unsigned Level>
struct inside_type<leveled<L, Level>> : inside_type<L> {};

/* Any other guard gets one error, which says what to write instead. */
template <typename L, typename Verbs, typename How, typename Irqs>
	requires(requires {
		typename lock_of<L>::taken_by_level_guard_alone;
	} && guardable<L> && !Verbs::template refuses<lock_of<L>, Irqs>)
struct guard_of<L, Verbs, How, Irqs> : refused_guard {
	using lock_here = lock_and_caller<lock_of<L>>;

	template <typename... Given>
	explicit guard_of(Given &&...)
	{
		static_assert(never<How>, "a leveled lock is taken by "
					  "level_guard, with a token");
	}
};

/* The guard inside a level_guard: an irq_lock's disables interrupts. */
template <typename L>
struct level_taken_by {
	using type = guard<L>;
};
template <typename L>
	requires irq_only_lock<lock_of<L>>
struct level_taken_by<L> {
	using type = irq_guard<L>;
};
} // namespace detail

/*
 * level_guard held(token, lock) takes a lock above the token's level, and is a
 * token of the lock's level. It is a guard; for an irq_lock, an irq_guard.
 * Further arguments are passed to that.
 */
template <typename L, unsigned Level>
struct [[nodiscard]] level_guard : detail::level_taken_by<L>::type,
				   holding<Level> {
	/* The lock, and the call site. */
	using lock_here =
		detail::lock_and_caller<leveled<detail::lock_of<L>, Level>>;

	template <typename Token, typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] level_guard(const Token &, lock_here at,
					   With &&...with)
	    : detail::level_taken_by<L>::type(
		      klock::at(at.lock.without_level(), at.by), with...)
	{
		static_assert(holds_at_most<Token, Level - 1>,
			      "a lock of this level or of a higher one is "
			      "held: the lower level is taken first");
	}
	/* A guard without a token is refused. */
	template <typename Lock>
	explicit level_guard(Lock &lock) : level_guard(nothing_held{}, lock)
	{
		static_assert(detail::never<Lock>,
			      "level_guard takes a token first: level_guard "
			      "held(token, lock); nothing_held{} is a thread's "
			      "first token");
	}
	[[gnu::always_inline]] ~level_guard() = default;
};
/* Refuses anything else by one error. */
template <typename L>
struct [[nodiscard]] level_guard<L, 0> {
	template <typename... Given>
	explicit level_guard(Given &&...)
	{
		static_assert(detail::never<L>,
			      "level_guard takes a token, and a leveled lock "
			      "that is not const: level_guard held(token, "
			      "lock)");
	}
	void unlock(call_site = {});
};

template <typename L, unsigned Level>
level_guard(leveled<L, Level> &) -> level_guard<L, Level>;
template <typename... Given>
level_guard(const Given &...) -> level_guard<void, 0>;
template <typename Token, typename L, unsigned Level, typename... With>
level_guard(const Token &, leveled<L, Level> &, With &&...)
	-> level_guard<detail::guarded<L, With...>, Level>;
template <typename Token, typename L, unsigned Level, typename... With>
level_guard(const Token &, detail::lock_and_caller<leveled<L, Level>>,
	    With &&...) -> level_guard<detail::guarded<L, With...>, Level>;

} // namespace klock
