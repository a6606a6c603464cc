/* SPDX-License-Identifier: MIT */
/*
 * taking - the bodies of guards: they take a lock with the arguments of
 * arguments.hpp
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/detail/arguments.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/types.hpp>

namespace klock {

/* For a lock that is taken already: guard held(lock, klock::adopt); */
struct adopting {
	explicit constexpr adopting() = default;
};
/* The argument itself. */
inline constexpr adopting adopt{};

namespace detail {

/* A lock and its call site. A guard's argument converts to it, and it then
 * notes the line of that call. */
template <guardable L>
struct lock_and_caller {
	[[gnu::always_inline]] lock_and_caller(L &from,
					       call_site caller = caller_site())
	    : lock(from), by(caller)
	{
	}

	L &lock;
	call_site by;
};

/* The ways in which a guard gets its lock; the fourth is adopting. */
struct waiting {};
struct trying {};
/* For a half of a pair_guard: it is constructed first, and takes the lock by
 * lock(). */
struct later {};

/*
 * to_write, to_read and to_upgrade are the ways in which a guard holds a lock.
 * Each has its verbs, of verbs.hpp, the type of their arguments, and the locks
 * that it refuses by one error.
 */
struct to_write {
	using take = verb::lock;
	using try_to_take = verb::try_lock;
	using release = verb::unlock;
	template <typename L>
	using needs = argument<L>;

	/* Refuses an irq_lock. */
	template <typename L, typename Irqs>
	static constexpr bool refuses = irq_only_lock<L> && !Irqs::disables;
};
struct to_read {
	using take = verb::lock_shared;
	using try_to_take = verb::try_lock_shared;
	using release = verb::unlock_shared;
	template <typename L>
	using needs = argument_to_read<L>;

	/* Refuses a lock without readers, and an irq_lock. */
	template <typename L, typename Irqs>
	static constexpr bool refuses =
		!shared_lockable<inside<L>> ||
		(irq_only_lock<L> && !interruptible_shared_lock<L> &&
		 !Irqs::disables);
};
struct to_upgrade {
	using take = verb::lock_upgradable;
	using release = verb::unlock_upgradable;
	template <typename L>
	using needs = no_argument;

	template <typename L, typename Irqs>
	static constexpr bool refuses = !upgradable_lock<inside<L>> ||
					(irq_only_lock<L> && !Irqs::disables);
};

/* How a guard holds its lock now. */
enum class held_to : u8 {
	as_taken,
	read,  /* after a downgrade */
	write, /* after an upgrade */
};
/* Empty if that does not change. */
template <bool>
struct held_how {};
template <>
struct held_how<true> {
	held_to value = held_to::as_taken;
};

/* The guard's call site, if the lock takes it. */
template <typename L>
struct kept_caller {
	void keep(call_site) {}
	call_site get() const { return {}; }
};
template <keeps_call_sites L>
struct kept_caller<L> {
	void keep(call_site from) { by = from; }
	call_site get() const { return by; }

      private:
	call_site by;
};

/* Returns the lock inside an irq_lock, which only guards may reach. */
struct opening {
	template <typename L>
	[[gnu::always_inline]] static L &inside_of(L &lock)
	{
		return lock;
	}
	template <irq_only_lock L>
	[[gnu::always_inline]] static inside<L> &inside_of(L &lock)
	{
		return lock.inner;
	}
};

/* The guard does not change interrupts; irq_guard.hpp has the other policy. */
struct irqs_left {
	static constexpr bool disables = false;

	void restore() {}
	void disable() {}
};

/*
 * The guard does not change preemption. A kernel that preempts its threads puts
 * another definition in front of this file (lib/preempted).
 */
struct of_guards;
template <typename>
struct preemption {
	using type = irqs_left;
};

/* Preemption is turned off only for a lock that spins: a thread that sleeps is
 * switched, not preempted. */
template <typename L>
struct left_by_guard : preemption<of_guards> {};
template <typename L>
	requires sleeping<inside<lock_of<L>>>
struct left_by_guard<L> {
	using type = irqs_left;
};
template <typename L>
using left_on = typename left_by_guard<L>::type;

/* A base that refuses new: a guard ends with its block. */
struct in_a_block {
	static void *operator new(usize) = delete;
	static void *operator new[](usize) = delete;
};

/*
 * guard_of - the body of every guard of one lock
 *
 * Each guard adds only a contract, a name and deduction guides. It takes the
 * lock by told(lock, by).lock(): Verbs decides which function is called, How
 * whether it waits, and Irqs whether interrupts are disabled.
 *
 * The pointer to the lock is null once the lock is released. There is no flag,
 * so a guard that is not released early costs no more than lock() and unlock(),
 * and is no larger than its members. unlock() passes the guard's call site to a
 * checked lock again; for any other lock no call site is kept.
 *                      Checked: codegen/guards, unit/guard: sizes
 *
 * Always inlined: a call_site that is passed in memory, and a pointer that is
 * tested, would cost more than lock() itself.
 */
template <typename L, typename Verbs, typename How, typename Irqs>
struct guard_of : in_a_block {
      private:
	static constexpr bool tries = same_as<How, trying>;
	static constexpr bool writes = same_as<Verbs, to_write>;
	static constexpr bool reads = same_as<Verbs, to_read>;
	static constexpr bool upgrades = same_as<Verbs, to_upgrade>;
	static constexpr bool adopts = writes || reads;
	using lock_type = lock_of<L>;
	static constexpr bool is_checked = requires(call_site by) {
		inside<lock_type>::complain_of_guard("", by);
	};
	/* A pair_guard has no downgrade(). */
	static constexpr bool downgrades = writes && !same_as<How, later> &&
					   downgradable_lock<inside<lock_type>>;

      public:
	/* The lock, and the line of the guard. */
	using lock_here = lock_and_caller<lock_type>;

	/*
	 * with: nothing, the node, the CPU's number, or a function. lock() may
	 * throw in a test, by its panic: then nothing is released.
	 */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit guard_of(lock_here at, With &&...given)
	    : held(tries ? nullptr : &at.lock), taken_with(given...)
	{
		if constexpr (!tries) {
			take(at);
			assume_held();
		} else if constexpr (writes &&
				     !try_lockable<inside<lock_type>>) {
			static_assert(never<L>, "this lock has no try_lock(), "
						"or none that returns bool");
		} else if constexpr (reads &&
				     !try_shared_lockable<inside<lock_type>>) {
			static_assert(never<L>,
				      "this lock has no try_lock_shared(), or "
				      "none that returns bool");
		} else if (try_to_take(at)) {
			adopt_lock(at);
		} else {
			irqs.restore();
		}
	}
	/* Holds nothing until lock(). */
	template <typename... With>
	explicit guard_of(later, With &...given) : taken_with(given...)
	{
	}
	/* Deleted: an adopted lock needs no try, and the state of interrupts
	 * before is not known. */
	guard_of(lock_here at, adopting)
		requires(adopts && (tries || Irqs::disables)) //
	= delete;
	template <typename With>
		requires(adopts && (tries || Irqs::disables)) //
	guard_of(lock_here at, With &&with, adopting) = delete;
	[[gnu::always_inline]] ~guard_of()
	{
		if (held != nullptr)
			release(*held, kept.get());
	}
	guard_of(const guard_of &) = delete;
	guard_of &operator=(const guard_of &) = delete;

	/* Whether the lock is held. */
	explicit operator bool() const &
		requires tries
	{
		return is_held();
	}
	explicit operator bool() const &&
		requires tries
	= delete;

	/*
	 * Releases before the block ends; interrupts are then as they were.
	 * Does nothing if it holds nothing. by: the call site, by default.
	 */
	[[gnu::always_inline]] void unlock(call_site by = caller_site())
	{
		if (give_up(by))
			irqs.restore();
	}

	/*
	 * The writer becomes a reader, and leaves by unlock_shared(); no writer
	 * comes between. Called once, while it holds the lock. A template, so
	 * that with a lock without downgrade() only a call is an error.
	 */
	template <typename Lock = lock_type>
	[[gnu::always_inline]] void downgrade(call_site by = caller_site())
	{
		static_assert(!reads, "a reader has nothing to downgrade");
		static_assert(reads || downgradable_lock<inside<Lock>>,
			      "this lock has no downgrade(): its writer cannot "
			      "become a reader");
		if constexpr (downgrades)
			if (check_held("downgrade of what was released", by)) {
				call_held(verb::downgrade{}, by);
				now.value = held_to::read;
			}
	}

	/*
	 * For condition.hpp: releases the lock, and restores interrupts, until
	 * take_back(). The guard must hold the lock as it took it. If it does
	 * not, a checked lock reports it, and let_go() returns null and does
	 * nothing.
	 */
	[[nodiscard]] lock_type *let_go()
	{
		static_assert(!recursive<inside<lock_type>>,
			      "a wait lets go of a lock once, and a "
			      "recursive_lock may be held deeper");
		if constexpr (is_checked)
			if (const char *const wrong = why_no_wait()) {
				complain(wrong, kept.get());
				return nullptr;
			}
		if constexpr (requires { taken_with.is_of_this_cpu(); }) {
			const bool may_change = taken_with.is_of_this_cpu();
			lock_type *const lock = give_up(kept.get());

			if (may_change)
				taken_with.ask_later();
			irqs.restore();
			return lock;
		} else {
			lock_type *const lock = give_up(kept.get());

			irqs.restore();
			return lock;
		}
	}
	void take_back(lock_type *lock)
	{
		if constexpr (is_checked)
			if (lock == nullptr)
				return;
		irqs.disable();
		if constexpr (requires { taken_with.ask_now(); })
			taken_with.ask_now();
		this->lock({*lock, kept.get()});
	}
	/* Null, or the reason why a wait must not release the lock and take it
	 * back. */
	[[nodiscard]] const char *why_no_wait() const
	{
		if (!is_held())
			return "a wait with a guard that holds nothing";
		if (is_downgraded())
			return "a wait with a guard that was downgraded";
		return nullptr;
	}
	/*
	 * For condition.hpp, too: the lock, if a wait needs nothing else of the
	 * guard. So the compiler knows that a wait does not change whether the
	 * guard was downgraded.
	 */
	[[nodiscard, gnu::always_inline]] lock_type &lock_alone()
		requires(downgrades && same_as<Irqs, irqs_left> &&
			 same_as<lock_type, L> &&
			 !takes_call_sites<inside<lock_type>>)
	{
		return *held;
	}

      protected:
	bool is_held() const { return held != nullptr; }

	/* Returns false, after a report, if the lock is checked and not
	 * held. */
	[[gnu::always_inline]] bool
	check_held([[maybe_unused]] const char *what,
		   [[maybe_unused]] call_site by) const
	{
		if constexpr (is_checked) {
			if (is_held())
				return true;
			complain(what, by);
			return false;
		}
		return true;
	}

	template <typename... With>
	[[gnu::always_inline]] guard_of(adopting, lock_here at, With &...given)
	    : taken_with(given...)
	{
		adopt_lock(at);
	}

	/* Calls a verb of the lock that is held. */
	template <typename Verb>
	[[gnu::always_inline]] decltype(auto) call_held(Verb verb, call_site by)
	{
		return call(verb, *held, by);
	}

      private:
	template <typename, typename, typename>
	friend struct pair_guard_of;

	static void complain(const char *what, call_site by)
	{
		inside<lock_type>::complain_of_guard(what, by);
	}

	/* Whether the writer has become a reader. */
	[[gnu::always_inline]] bool is_downgraded() const
	{
		if constexpr (downgrades || upgrades)
			return now.value == held_to::read;
		else
			return false;
	}

	/*
	 * Takes the lock for a guard that holds nothing. For pair_guard only,
	 * as it does not change interrupts.
	 */
	[[gnu::always_inline]] void lock(lock_here at)
	{
		take(at);
		held = &at.lock;
	}

	[[gnu::always_inline]] void take(lock_here at)
	{
		const typename Verbs::take verb;

		kept.keep(at.by);
		if constexpr (upgrades)
			now.value = held_to::as_taken;
		if constexpr (requires { taken_with.serve; })
			call(verb, at.lock, at.by, taken_with.serve);
		else
			call_with(verb, at.lock, at.by);
	}

	[[gnu::always_inline]] bool try_to_take(lock_here at)
	{
		kept.keep(at.by);
		static_assert(
			!requires { taken_with.serve; },
			"a try does not wait: without serve");
		return call_with(typename Verbs::try_to_take{}, at.lock, at.by);
	}

	/* Calls a verb of the lock, as its caller in the line `by`. */
	template <typename Verb, typename... With>
	[[gnu::always_inline]] static decltype(auto)
	call(Verb verb, lock_type &lock, call_site by, With &...with)
	{
		return hand_on(verb, opening::inside_of(lock), by, with...);
	}
	/* Calls it with the node or the number, if the lock is taken with one.
	 */
	template <typename Verb>
	[[gnu::always_inline]] decltype(auto)
	call_with(Verb verb, lock_type &lock, call_site by)
	{
		if constexpr (requires { taken_with.value; })
			return call(verb, lock, by, taken_with.value);
		else
			return call(verb, lock, by);
	}

	[[gnu::always_inline]] void adopt_lock(lock_here at)
	{
		kept.keep(at.by);
		held = &at.lock;
		assume_held();
	}

	/* Returns the lock that it held; null: none. */
	[[gnu::always_inline]] lock_type *give_up(call_site caller)
	{
		lock_type *const lock = held;

		if (lock == nullptr)
			return nullptr;
		held = nullptr;
		release(*lock, caller);
		return lock;
	}

	/* Without this, -fno-delete-null-pointer-checks would keep a test. */
	[[gnu::always_inline]] void assume_held() const
	{
		if (held == nullptr)
			__builtin_unreachable();
	}

	[[gnu::always_inline]] void release(lock_type &from, call_site caller)
	{
		if constexpr (irq_only_lock<lock_type> && Irqs::disables &&
			      requires { from.check_irqs_off(caller); })
			from.check_irqs_off(caller);
		if constexpr (downgrades || upgrades)
			if (is_downgraded())
				return call(verb::unlock_shared{}, from,
					    caller);
		if constexpr (upgrades)
			if (now.value == held_to::write)
				return call(verb::unlock{}, from, caller);
		call_with(typename Verbs::release{}, from, caller);
	}

	/* The first member: interrupts go off before the lock is touched, and
	 * are restored after it is released. */
	[[no_unique_address]] Irqs irqs;
	/* null: nothing is held */
	lock_type *held = nullptr;

      protected:
	/* the node, the CPU's number, or nothing */
	[[no_unique_address]] typename Verbs::template needs<L> taken_with;

      private:
	[[no_unique_address]] kept_caller<inside<lock_type>> kept;

      protected:
	[[no_unique_address]] held_how<downgrades || upgrades> now;
};

/* Converts from anything, so that one error is the only one. */
struct anything {
	template <typename... Given>
	anything(Given &&...)
	{
	}
};

/* The members of a guard that its constructor refuses, so that the calls of
 * them are no errors besides. */
struct refused_guard {
	explicit operator bool() const;
	void lock(anything);
	void unlock(call_site = {});
	void downgrade(call_site = {});
	bool is_held() const;
	anything *let_go();
	void take_back(anything *);

      protected:
	template <typename Verb>
	bool call_held(Verb, call_site);
	bool check_held(const char *, call_site) const;
	held_how<true> now;
};

/* L is not guardable: gives one error for each Guard, which says why. */
template <typename L, typename Guard>
constexpr void refuse()
{
	using lock_type = mutable_of<L>;

	if constexpr (guardable<lock_type>)
		static_assert(never<Guard>,
			      "a const lock, or a temporary one, cannot be "
			      "taken: make it mutable, or pass it by a "
			      "reference to non-const");
	else if constexpr (annotated<L>)
		static_assert(never<Guard>,
			      "an annotated_lock is taken by annotated_guard "
			      "and its like: clang reads no other");
	else if constexpr (sleeping<L>)
		static_assert(never<Guard>,
			      "nobody holds it, so it has no guard: acquire() "
			      "and release() a semaphore, wait() for a "
			      "condition or completion");
	else if constexpr (is_pointer<lock_type>)
		static_assert(never<Guard>, "a pointer: a guard takes the lock "
					    "itself: guard held(*pointer)");
	else
		static_assert(never<Guard>,
			      "not a lock: a guard takes what has lock() and "
			      "unlock(), see concepts.hpp");
}

/* A guard cannot be made for L: gives one error, with what to write instead. */
template <typename L, typename Verbs, typename How, typename Irqs>
	requires(!guardable<L> || Verbs::template refuses<lock_of<L>, Irqs>)
struct guard_of<L, Verbs, How, Irqs> : refused_guard {
	using lock_here = anything;

	template <typename... Given>
	explicit guard_of(Given &&...)
	{
		if constexpr (!guardable<L>)
			refuse<L, guard_of>();
		else if constexpr (requires { Verbs::in_handler; })
			static_assert(never<L>,
				      "a handler reads an irq_shared_lock so: "
				      "of any other, it may wait for the "
				      "reader that it interrupted");
		else if constexpr (same_as<Verbs, to_read> &&
				   !shared_lockable<inside<L>>)
			static_assert(never<L>,
				      "this lock has no lock_shared(): one "
				      "alone can hold it");
		else if constexpr (same_as<Verbs, to_upgrade> &&
				   !upgradable_lock<inside<L>>)
			static_assert(never<L>,
				      "this lock has no lock_upgradable(): its "
				      "readers cannot upgrade");
		else if constexpr (same_as<Verbs, to_read>)
			static_assert(never<L>,
				      "an irq_lock is read by "
				      "irq_shared_guard: an interrupt handler "
				      "takes it, too");
		else if constexpr (same_as<Verbs, to_upgrade>)
			static_assert(never<L>,
				      "an irq_lock is read by "
				      "irq_upgradable_guard: an interrupt "
				      "handler takes it, too");
		else if constexpr (same_as<How, trying>)
			static_assert(never<L>,
				      "an irq_lock is taken by irq_try_guard: "
				      "an interrupt handler takes it, too");
		else
			static_assert(never<L>,
				      "an irq_lock is taken by irq_guard: an "
				      "interrupt handler takes it, too");
	}
};

} // namespace detail

/*
 * A lock, with the call site to report: for a kernel's own function around a
 * guard, which knows its caller. guard held(klock::at(lock, by));
 */
template <detail::guardable L>
[[nodiscard]] detail::lock_and_caller<L> at(L &lock, call_site by)
{
	return {lock, by};
}

/*
 * The lock itself, for a kernel's own acquire() without a guard. It compiles to
 * lock.lock() where the lock is not checked: klock::told(lock, by).lock();
 */
using detail::told;

} // namespace klock
