/* SPDX-License-Identifier: MIT */
/*
 * rescue_guard - takes a lock if that is possible soon; goes on without if not
 *
 *	void print_last_words(const char *text)
 *	{
 *		klock::rescue_guard held(console_lock);
 *
 *		if (!held)
 *			...		what it guards may be half done
 *		put(text);		in any case
 *	}				unlocked, if it was taken
 *
 * It is for a kernel that fails: its console, its log. The lock's holder may be
 * stopped by then, or be the code that has failed on this CPU: lock() would
 * wait for ever, and the reason would never be printed. A lock that was not
 * taken is not unlocked.
 *
 *	klock::rescue_guard held(lock, patience);
 *
 * patience: the spin iterations before it gives up, after a first attempt at
 * once; by default usual_patience, some milliseconds on a real CPU. It gives up
 * at once if the caller itself holds this lock and it is checked; the other
 * checks are those of try_guard. A FIFO lock with waiters all the time is never
 * free: stop the other CPUs first, if possible.
 *
 * It takes a plain lock with a try_lock(), or an irq_lock of one. It takes no
 * queue of nodes: an unlock of mcs_lock may wait for a CPU that stands still.
 *
 * Context: any, NMI too; interrupts are off from before the first attempt to
 * the end of the block. In an NMI handler it is one contender more: see the
 * lock's Capacity.
 * Failure: orders nothing: the holder's writes may be seen in part.
 *                      Checked: unit/rescue_guard, model/rescue_guard
 */
#pragma once

#include <klock/detail/taking.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/irq_guard.hpp>

namespace klock {

template <typename L>
struct [[nodiscard]] rescue_guard : detail::in_a_block {
	static_assert(!node_lock<detail::inside<L>>,
		      "rescue_guard takes no queue of nodes: its unlock() may "
		      "wait for a CPU that stands still");

	/* Spin iterations: longer than any critical section, but short for a
	 * person. */
	static constexpr u32 usual_patience = 100'000;

	/* The lock, and the call site. */
	using lock_here = detail::lock_and_caller<L>;

	/* Tries at once, and again after each of `patience` spins. */
	[[nodiscard("a guard without a name releases at once"),
	  gnu::noinline]] explicit rescue_guard(lock_here at,
						u32 patience = usual_patience)
	    : by(at.by), held(attempt(at, patience) ? &at.lock : nullptr)
	{
	}
	~rescue_guard()
	{
		/* The constructor has refused any other lock. */
		if constexpr (try_plain_lock<detail::inside<L>>)
			if (held != nullptr)
				detail::told(detail::opening::inside_of(*held),
					     by)
					.unlock();
	}
	rescue_guard(const rescue_guard &) = delete;
	rescue_guard &operator=(const rescue_guard &) = delete;

	/* Whether the lock is held. The block runs in any case. */
	explicit operator bool() const & { return held != nullptr; }
	explicit operator bool() const && = delete;

      private:
	static bool attempt(const lock_here &at, u32 patience)
	{
		auto &lock = detail::opening::inside_of(at.lock);

		/* The lock cannot become free: the caller itself holds it. */
		if constexpr (requires { lock.is_held_by_me(); })
			if (lock.is_held_by_me())
				return false;
		if constexpr (!try_plain_lock<detail::inside<L>>) {
			static_assert(detail::never<L>,
				      "this lock has no try_lock(), or none "
				      "that returns bool");
			return false;
		} else {
			for (u32 spins = 0;; spins++) {
				if (detail::told(lock, at.by).try_lock())
					return true;
				if (spins == patience)
					return false;
				cpu_relax();
			}
		}
	}

	/* The first member: off before the first try, restored at last. */
	detail::irqs_off off;
	call_site by;
	/* null: nothing is held */
	L *held;
};

/* A rescue_guard cannot be made for L: gives one error. */
template <typename L>
	requires(!detail::guardable<L> ||
		 requires { typename L::taken_by_level_guard_alone; })
struct [[nodiscard]] rescue_guard<L> {
	template <typename... Given>
	explicit rescue_guard(Given &&...)
	{
		if constexpr (!detail::guardable<L>)
			detail::refuse<L, rescue_guard>();
		else
			static_assert(detail::never<L>,
				      "a leveled lock is rescued without its "
				      "level: rescue_guard "
				      "held(lock.without_level())");
	}
	explicit operator bool() const;
};

template <typename L>
rescue_guard(L &) -> rescue_guard<L>;
template <typename L>
rescue_guard(L &, u32) -> rescue_guard<L>;
template <typename L>
rescue_guard(detail::lock_and_caller<L>) -> rescue_guard<L>;
template <typename L>
rescue_guard(detail::lock_and_caller<L>, u32) -> rescue_guard<L>;
/* A temporary, which the guard refuses. */
template <typename L>
rescue_guard(const L &&) -> rescue_guard<const L>;
template <typename L>
rescue_guard(const L &&, u32) -> rescue_guard<const L>;

} // namespace klock
