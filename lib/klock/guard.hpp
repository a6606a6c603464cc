/* SPDX-License-Identifier: MIT */
/*
 * guard - takes a lock for the length of a block
 *
 *	{
 *		klock::guard held(lock);		any plain lock
 *		klock::guard held(lock, cpu);		one indexed by CPU
 *		klock::guard held(mcs);			brings the node along
 *		klock::guard held(mcs, node);		a node that is lent
 *		klock::guard held(clh, node);		a node that outlives it
 *	}						unlocked here
 *
 * Without a number, a guard of a lock that is indexed by CPU asks the kernel
 * (klock/os.hpp). In place of a number or a node it takes a function, which
 * returns one; see irq_guard.hpp, where that matters.
 *
 * held.unlock() releases early, before the block ends; once. After it the guard
 * holds nothing, and its end and another unlock() do nothing.
 *
 *	if (lock.try_lock())
 *		klock::guard held(lock, klock::adopt);	taken already
 *	klock::guard held(mcs, node, klock::adopt);	with this node
 *
 * A guard without a name, klock::guard{lock}, would release at once: the
 * compiler warns. Two locks: pair_guard.hpp; without waiting: try_guard.hpp.
 *
 * Context: that of the lock inside. A lock that an interrupt handler takes too
 * needs irq_guard instead: the handler would wait for the code it interrupted.
 * Recursion: waits for itself, for ever. A guard stays on the CPU, or with the
 * thread, that made it: it is neither copied nor moved.
 * Size: a pointer; and the number, the node, or a pointer to it. A checked
 * lock's also keeps its caller.	Checked: unit/guard: sizes
 * Cost: the instructions of lock() and unlock(), where the compiler inlines;
 * with the node inside, a load and a test more.
 *					Checked: codegen/guards
 */
#pragma once

#include <klock/acquisition.hpp>
#include <klock/concepts.hpp>
#include <klock/types.hpp>

namespace klock {

template <detail::guardable L>
struct [[nodiscard]] guard {
	/* The lock, and the line it is named in. */
	using lock_here = detail::here<detail::lock_of<L>>;

	/* with: nothing, the node, the CPU's number, or a function. */
	template <typename... With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] explicit guard(lock_here at, With &&...with)
	    : taken(detail::waiting{}, at, with...)
	{
	}
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] guard(lock_here at, adopting)
	    : taken(adopt, at)
	{
		static_assert(!stack_node_lock<L>,
			      "adopt: with the node that the lock was taken "
			      "with: guard held(lock, node, klock::adopt)");
	}
	template <typename With>
	[[nodiscard("a guard without a name releases at once"),
	  gnu::always_inline]] guard(lock_here at, With &&with, adopting)
	    : taken(adopt, at, with)
	{
	}
	[[gnu::always_inline]] ~guard() = default;
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;

	/* Before the block ends. by: the caller, found out by itself. */
	void unlock(call_site by = caller_site()) { taken.unlock(by); }

      private:
	detail::acquisition<L> taken;
};

/* Of an irq_lock: one error, and what to write instead. */
template <detail::guardable L>
	requires irq_only_lock<detail::lock_of<L>>
struct guard<L> {
	static_assert(detail::never<L>, "an irq_lock is taken by irq_guard: an "
					"interrupt handler takes it, too");

	template <typename... Given>
	explicit guard(Given &&...);
	void unlock();
};

template <typename L, typename... With>
guard(L &, With &&...) -> guard<detail::guarded<L, With...>>;
template <typename L, typename... With>
guard(detail::here<L>, With &&...) -> guard<detail::guarded<L, With...>>;

} // namespace klock
