/* SPDX-License-Identifier: MIT */
/*
 * recursive_lock - a plain lock that its holder may take again
 *
 *	constinit klock::recursive_lock<klock::ticket_lock<klock::u8>> tree;
 *
 *	klock::guard held(tree);
 *	...
 *	klock::guard again(tree);		in a function that is called
 *
 * Algorithm:   L, the owner and a depth. lock() by the owner adds one to the
 *              depth. Any other caller takes L, and is the owner until its last
 *              unlock().
 * Source:      the idea is as old as threads (POSIX's recursive mutexes; spin
 *              locks of Xen, NuttX, SerenityOS and libvsync); the code is ours.
 * Use when:    code comes from a kernel that has such locks. Do not use it in
 *              new code: a section expects that the data are consistent, but an
 *              inner section may find them half changed. Instead, divide the
 *              function in two: one that is called with the lock held, and
 *              checks that (assert_held()), and a small one that takes the lock
 *              and calls the first.
 * Size:        16 bytes for an L of up to 4, on 32 bits 12
 *                                      Checked: unit/recursive_lock: sizes,
 *                                      codegen/check
 * Zero bytes:  free, where L is        Checked: unit/recursive_lock: sizes
 * Lifetime:    that of L               Checked: model/recursive_lock: freed
 * Fairness:    that of L; the owner waits for nobody
 *                                      Checked: unit/recursive_lock: depth
 * Capacity:    that of L; 2^32 - 1 deep
 *                                      Checked: unit/recursive_lock: depth
 * Context:     that of L, but no NMI. The owner is the CPU, with preemption
 *              off; or the result of klock_os_owner_id(); a thread, if L's
 *              waiters sleep; or the owner that L knows (inheriting_mutex). A
 *              handler that interrupts the owner is the owner, too, in the
 *              middle of a section: if handlers take it, everybody must take it
 *              by irq_guard. A checked lock reports code that does not.
 *                                      Checked: unit/recursive_lock: handler
 * Assumes:     what L assumes, and that owners have different numbers
 *
 * State (L, owner, depth):
 *	(free, 0, 0) --lock--> (held, me, 1) --lock--> (held, me, 2) ..
 *	(held, me, 1) --unlock--> (free, 0, 0)
 *
 * Ordering:    that of L. The owner is written with L held, and read at any
 *              time, relaxed. Nobody else writes a caller's number, so a caller
 *              that reads its own number wrote it, and has not released the
 *              lock since. Only the owner accesses the depth.
 *                                      Checked: model/recursive_lock: sections
 *
 * Cost:        uncontended: that of L, and no RMW more; taken again: no RMW
 *                                      Checked: model/recursive_lock: cost
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/concepts.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/verbs.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

namespace detail {
/* The verbs of a recursive_lock: none with another way to wait, as the owner
 * does not wait. */
struct verbs_of_owner {
	template <typename Verb>
	static constexpr bool has =
		does<Verb, effect::takes, effect::tries, effect::takes_until,
		     effect::releases, effect::asks> &&
		!is_one_of<Verb, verb::lock_paced, verb::lock_from,
			   verb::depth>;
};
} // namespace detail

template <plain_lock L>
struct recursive_lock : detail::sleeps_of<L>,
			detail::threads_of<L>,
			detail::verbs_of<recursive_lock<L>, L, detail::no_site,
					 detail::verbs_of_owner> {
	static_assert(!recursive<L>,
		      "recursive_lock<L>: L is recursive already");
	static_assert(
		recursive<L> || !requires(const L &l) { l.is_held_by_me(); },
		"checked_if<debug, recursive_lock<L>>: inside of it "
		"checks see but the first lock() of an owner");

	/* For checks. */
	using taken_again_by_its_holder = void;

	static constexpr u64 max_contenders = L::max_contenders;

	constexpr recursive_lock() = default;
	recursive_lock(const recursive_lock &) = delete;
	recursive_lock &operator=(const recursive_lock &) = delete;

	/* How often the caller has taken it and not released it yet. */
	[[nodiscard]] u32 depth() const { return is_mine() ? deep.get() : 0; }

      private:
	using effect = detail::effect;
	using no_site = detail::no_site;
	friend typename recursive_lock::verbs_of;
	friend typename recursive_lock::questions_of;

	/* Waits, unless the caller holds it; needs one unlock() more. */
	template <detail::does<effect::takes> Verb, typename... With>
	void pass(Verb verb, no_site, With &...with)
	{
		if (is_mine())
			return go_deeper();
		verb.call(inner, with...);
		take();
	}
	/* Takes it if the caller is the owner, or if L can be taken. */
	template <detail::does<effect::tries, effect::takes_until> Verb,
		  typename... With>
	bool pass(Verb verb, no_site, With &...with)
	{
		return try_by([&] { return verb.call(inner, with...); });
	}
	template <typename... With>
	wait_result pass(detail::verb::lock_until verb, no_site, With &...with)
	{
		auto why = wait_result::had;

		(void)try_by([&] {
			why = verb.call(inner, with...);
			return why == wait_result::had;
		});
		return why;
	}

	/* Called by the holder, once for each lock(); the last call releases.
	 * If L knows its owner, it panics if another calls this. */
	template <detail::does<effect::releases> Verb>
	void pass(Verb verb, no_site)
	{
		if constexpr (requires { inner.is_owned_by_me(); })
			if (!is_mine())
				return verb.call(inner);
		const u32 left = deep.get() - 1;

		deep.set(left);
		if (left)
			return;
		owner_plus_1.store_relaxed(0);
		verb.call(inner);
	}

	template <detail::does<effect::asks> Verb, typename... With>
	decltype(auto) pass(Verb verb, no_site, With &...with) const
	{
		return verb.call(inner, with...);
	}

	static usize me_plus_1()
	{
		if constexpr (sleeping<L>)
			return thread_owner_id() + 1;
		else
			return owner_id() + 1;
	}
	/* A thread may have the number of one that ended: the mutex that knows
	 * its owner tells them apart. */
	bool is_mine() const
	{
		if constexpr (requires { inner.is_owned_by_me(); })
			return inner.is_owned_by_me();
		else
			return owner_plus_1.load_relaxed() == me_plus_1();
	}
	void go_deeper() { deep.set(deep.get() + 1); }

	void take()
	{
		owner_plus_1.store_relaxed(me_plus_1());
		deep.set(1);
	}

	template <typename Try>
	bool try_by(Try try_inner)
	{
		if (is_mine())
			return go_deeper(), true;
		if (!try_inner())
			return false;
		take();
		return true;
	}

	L inner;
	plain<u32> deep;
	/* 0: nobody */
	atomic<usize> owner_plus_1;
};

} // namespace klock
