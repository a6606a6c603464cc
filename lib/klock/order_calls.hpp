/* SPDX-License-Identifier: MIT */
/*
 * order_calls - what a kernel says to lock_order.hpp about itself
 *
 * They do nothing where no klock_os_lock_order() is defined. A build without
 * checks has not an instruction of them where they are told so, by false, or by
 * a lock that is not checked.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/lock_order.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * Where a kernel waits for what is no lock: for another CPU's answer to an IPI,
 * for a thread that sleeps. A panic if the caller holds a checked lock, or has
 * interrupted somebody who does: whoever it waits for may want that lock.
 *
 *	klock::might_wait<debug>();
 */
template <bool Checks = true>
inline void might_wait(call_site by = caller_site())
{
	if constexpr (!Checks)
		return;
	else if (order_keeper *const order = kernel_order_keeper())
		order->might_wait(by);
}

/*
 * A list of what is before what, which a kernel declares once, before others
 * take these locks; a panic if it contradicts itself, or what was seen before.
 *
 *	static constexpr klock::declared_order orders[] = {
 *		klock::rank<10>("pipe"), klock::rank<30>("runqueue"),
 *		klock::before("inode", "buffer"),
 *	};
 *	klock::declare<debug>(orders);
 *
 */
template <bool Checks = true, usize Size>
void declare(const declared_order (&all)[Size], call_site by = caller_site())
{
	if constexpr (Checks)
		if (order_keeper *const order = kernel_order_keeper())
			order->declare(all, Size, by);
}

/*
 * Declares that two locks of one name are taken in this order, as parent and
 * child: while it lives, the lock is of this sub-rank for the acquisitions of
 * its owner. One that is not declared is of sub-rank 0.
 *
 *	klock::irq_guard outer(parent.lock);
 *	klock::nested one_down(child.lock, 1);
 *	klock::irq_guard inner(child.lock);
 *
 * Of a lock that is not checked: nothing.
 */
template <any_lock L>
struct nested {
	nested(const L &, u8) {}
};

namespace detail {

/* A lock of a sub-rank, for who asks; and what was before, put back. */
struct sub_rank {
	void begin(const void *lock, u8 rank)
	{
		mine = kernel_lock_order() ? kernel_order_keeper()->mine()
					   : nullptr;
		if (!mine)
			return;
		before = mine->ranked.load_relaxed();
		rank_before = mine->rank.load_relaxed();
		/* A handler in between finds no lock. */
		mine->ranked.store_relaxed(0);
		mine->rank.store_relaxed(rank);
		mine->ranked.store_relaxed(reinterpret_cast<usize>(lock));
	}
	void end()
	{
		if (!mine)
			return;
		mine->ranked.store_relaxed(0);
		mine->rank.store_relaxed(rank_before);
		mine->ranked.store_relaxed(before);
	}

      private:
	held_locks *mine = nullptr;
	usize before = 0;
	u8 rank_before = 0;
};

} // namespace detail

/* Of a checked one. */
template <any_lock L>
	requires requires(const L &lock) { lock.is_held_by_me(); }
struct nested<L> {
	nested(const L &lock, u8 rank) { its.begin(&lock, rank); }
	~nested() { its.end(); }
	nested(const nested &) = delete;
	nested &operator=(const nested &) = delete;

      private:
	detail::sub_rank its;
};

} // namespace klock
