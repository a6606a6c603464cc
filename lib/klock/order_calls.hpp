/* SPDX-License-Identifier: MIT */
/*
 * order_calls - functions by which a kernel tells lock_order.hpp about itself
 *
 * Most do nothing if no klock_os_lock_order() is defined. With `false` as their
 * template argument, or with a lock that is not checked, they compile to no
 * instruction.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/irq_lock.hpp>
#include <klock/lock_order.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

namespace detail {
/* For might_wait(): panics in a handler, or with interrupts off. */
[[gnu::noinline]] inline void check_may_wait(call_site by)
{
	const bool in_handler = current_context() != context::thread;

	if (!in_handler && irqs_enabled())
		return;
	report_misuse(
		"might_wait()", nullptr,
		misuse_at(in_handler ? "in a handler" : "with interrupts off",
			  by)
			.c_str());
}
} // namespace detail

/* Whether a klock_os_lock_order() was linked in. One in a file of its own in a
 * static library is not. */
inline bool order_is_checked() { return kernel_lock_order(); }

/*
 * Called where a kernel waits for something other than a lock: for another
 * CPU's answer to an IPI, for a thread that sleeps. Panics in a handler, with
 * interrupts off, or if the caller holds a checked spin lock: the CPU or thread
 * that it waits for may want that lock, or an answer of this CPU.
 *
 *	klock::might_wait<debug>();
 */
template <bool Checks = true>
inline void might_wait(call_site by = caller_site())
{
	if constexpr (Checks) {
		check_no_spin(nullptr, "might_wait() with a lock held", by);
		if (order_keeper *const order = kernel_order_keeper())
			order->might_wait(by, nullptr);
		detail::check_may_wait(by);
	}
}

/*
 * might_wait() for a scheduler that is about to switch to another thread, also
 * in a handler or with interrupts off: panics if the caller holds a checked
 * spin lock.
 */
template <bool Checks = true>
inline void might_switch(call_site by = caller_site())
{
	constexpr const char *wrong = "might_switch() with a spinlock held";

	if constexpr (Checks) {
		check_no_spin(nullptr, wrong, by);
		if (order_keeper *const order = kernel_order_keeper())
			order->might_wait(by, nullptr, wrong);
	}
}

/*
 * Called by a thread that ends: panics if it holds a checked lock, which nobody
 * would release. thread_ends(thread, true, ...) of inheriting_mutex.hpp hands
 * over the thread's inheriting mutexes: call it before. Does nothing in a
 * kernel without an order.
 *
 *	klock::thread_ends<debug>();
 */
template <bool Checks = true>
inline void thread_ends(call_site by = caller_site())
{
	if constexpr (Checks)
		if (const order_keeper *const order = kernel_order_keeper())
			order->thread_ends(by);
}

/* A checked lock, by itself or in an irq_lock. */
template <typename L>
concept has_known_use = detail::is_checked<detail::inside<L>>;

/*
 * might_wait() for a caller that may hold this one lock: because the wait
 * releases it and takes it again, as a condition's does; or because all waiters
 * of the lock answer meanwhile (serving_lock, concepts.hpp).
 */
template <typename L>
	requires any_lock<detail::inside<L>>
void might_wait_with(const L &lock, call_site by = caller_site())
{
	if constexpr (has_known_use<L>) {
		assert_held(lock, by);
		check_no_spin(nullptr, "might_wait() with a lock held", by,
			      &lock);
		if (order_keeper *const order = kernel_order_keeper())
			order->might_wait(by, &lock);
	}
}

/*
 * Called where a kernel frees memory: panics if anybody holds a checked lock in
 * it, or waits for one. Does nothing in a kernel without an order.
 *
 *	klock::none_held_in<debug>(page, page_size);
 */
template <bool Checks = true>
inline void none_held_in(const void *from, usize bytes,
			 call_site by = caller_site())
{
	if constexpr (Checks)
		if (order_keeper *const order = kernel_order_keeper())
			order->none_held_in(from, bytes, by);
}

/*
 * They report a lock that is not klock's and whose waiters sleep. From
 * acquired() to released(), it takes part in the order and in print_held(), as
 * a class of that name and sub-rank (see `nested`). Both are called by the
 * thread that has it (klock_os_owner_id()), with no spinning lock held, as its
 * wait may have slept; unless the pair is declared harmless (the lock was known
 * to be free). might_wait() is allowed with such a lock held. released() by
 * another thread than acquired() panics.
 *
 *	acquiresleep(&ip->lock);
 *	klock::acquired<debug>(&ip->lock, "inode");
 *	...
 *	klock::released<debug>(&ip->lock);
 *	releasesleep(&ip->lock);
 */
template <bool Checks = true>
inline void acquired(const void *lock, const char *name, u32 sub_rank = 0,
		     call_site by = caller_site());
template <bool Checks = true>
inline void released(const void *lock, call_site by = caller_site())
{
	if constexpr (Checks)
		if (order_keeper *const order = kernel_order_keeper())
			order->note_released(lock, by);
}

/*
 * Declares orders of locks, once, before others take these locks. Panics if the
 * list contradicts itself, or an order that was seen before.
 *
 *	static constexpr klock::declared_order orders[] = {
 *		klock::rank<10>("pipe"), klock::rank<30>("runqueue"),
 *		klock::before("inode", "buffer"),
 *		klock::harmless("inode", "log"),
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

/* The context of a CPU; zero: a thread. A kernel has one for each CPU, and its
 * klock_os_context() returns static_cast<int>(mine.get()). */
struct cpu_context {
	[[nodiscard]] context get() const
	{
		return static_cast<context>(now.load_relaxed());
	}

	atomic<u8> now;
};

/*
 * A handler, from its entry to its return: sets the context that
 * klock_os_context() returns, and panics if the handler returns with a lock
 * held that it has taken. Handlers nest. Constructed with interrupts off, as a
 * CPU enters a handler.
 *
 *	klock::handler_scope in(my_cpu().context, klock::context::interrupt);
 */
struct handler_scope {
	[[nodiscard("a handler_scope without a name ends at "
		    "once")]] handler_scope(cpu_context &mine, context entered,
					    call_site by = caller_site())
	    : of(mine), at(by), before(mine.now.load_relaxed())
	{
		mine.now.store_relaxed(static_cast<u8>(entered));
		if (order_keeper *const order = kernel_order_keeper())
			places = order->places();
	}
	~handler_scope() { end(); }
	handler_scope(const handler_scope &) = delete;
	handler_scope &operator=(const handler_scope &) = delete;

	/* Ends it before the destructor does, which then does nothing. */
	void end()
	{
		order_keeper *const order =
			is_over ? nullptr : kernel_order_keeper();

		if (!is_over)
			of.now.store_relaxed(before);
		is_over = true;
		if (order)
			order->check_as_before(places, at);
	}

      private:
	cpu_context &of;
	call_site at;
	u8 before;
	u32 places = 0;
	bool is_over = false;
};

namespace detail {

/* Sets the sub-rank of the owner's next acquisition of a lock, and restores the
 * setting before. */
struct sub_rank {
	void begin(const void *lock, u32 rank, bool sleeps)
	{
		const u8 narrow = checked(lock, rank);

		order_keeper *const order = kernel_order_keeper();

		mine = order ? order->claim_mine(sleeps) : nullptr;
		if (!mine)
			return;
		before = mine->ranked.load_relaxed();
		rank_before = mine->rank.load_relaxed();
		/* A handler that comes in between finds no lock. */
		mine->ranked.store_relaxed(0);
		mine->rank.store_relaxed(narrow);
		mine->ranked.store_relaxed(reinterpret_cast<usize>(lock));
	}
	void end()
	{
		if (!mine)
			return;
		mine->ranked.store_relaxed(0);
		mine->rank.store_relaxed(rank_before);
		mine->ranked.store_relaxed(before);
		mine->disclaim();
	}

	static void set(const void *held, u32 rank)
	{
		const u8 narrow = checked(held, rank);

		if (order_keeper *const order = kernel_order_keeper())
			order->relabel(held, narrow);
	}

      private:
	static u8 checked(const void *lock, u32 rank)
	{
		if (rank > 255)
			report_misuse("nested", lock, "a sub-rank above 255");
		return static_cast<u8>(rank);
	}

	held_locks *mine = nullptr;
	usize before = 0;
	u8 rank_before = 0;
};

/* Does nothing for a lock that is not checked. */
template <bool Known>
struct sub_rank_of {};
template <>
struct sub_rank_of<true> : sub_rank {};

} // namespace detail

template <bool Checks>
inline void acquired(const void *lock, const char *name, u32 rank, call_site by)
{
	if constexpr (Checks) {
		detail::sub_rank its;

		its.begin(lock, rank, true);
		if (order_keeper *const order = kernel_order_keeper())
			order->note_acquired(
				{lock, {name, 0}, by, false, false, true});
		its.end();
	}
}

/*
 * Declares that two locks of one name are taken in this order, as parent and
 * child: while it lives, acquisitions of the lock by its owner have this
 * sub-rank, at most 255. Without it, a lock has sub-rank 0.
 *
 *	klock::irq_guard outer(parent.lock);
 *	klock::nested one_down(child.lock, 1);
 *	klock::irq_guard inner(child.lock);
 *
 * All code that takes two of that name must do so: taking them by sub-rank in
 * one place and by address in another panics. Does nothing for a lock that is
 * not checked.
 */
template <typename L>
	requires any_lock<detail::inside<L>>
struct [[nodiscard]] nested {
	[[nodiscard("a sub-rank without a name ends at once")]] nested(
		[[maybe_unused]] const L &lock, [[maybe_unused]] u32 rank)
	{
		if constexpr (has_known_use<L>)
			its.begin(&lock, rank, sleeping<detail::inside<L>>);
	}
	~nested()
	{
		if constexpr (has_known_use<L>)
			its.end();
	}
	nested(const nested &) = delete;
	nested &operator=(const nested &) = delete;

      private:
	[[no_unique_address]] detail::sub_rank_of<has_known_use<L>> its;
};

/*
 * Makes the caller the owner of a lock that another owner took and does not
 * touch any more. Called after a switch of threads, by the thread that releases
 * the scheduler's lock, in a kernel whose owners of locks are threads. Panics
 * if nobody holds the lock. Refuses a lock that its owner alone releases
 * (recursive_lock, inheriting_mutex), and an irq_shared_lock.
 */
template <typename L>
	requires any_lock<detail::inside<L>>
void handed_over([[maybe_unused]] L &lock, call_site by = caller_site())
{
	static_assert(
		!requires { typename detail::inside<L>::taken_with_gate; },
		"an irq_shared_lock is not handed over: it is two locks");
	static_assert(!recursive<detail::inside<L>>,
		      "a recursive_lock is not handed over: its owner alone "
		      "releases it, as often as it took it. What the next "
		      "thread releases is a lock that is not recursive");
	static_assert(
		!owned_lock<detail::inside<L>> ||
			recursive<detail::inside<L>> ||
			requires {
				typename detail::inside<L>::taken_with_gate;
			},
		"an inheriting_mutex is not handed over: its waiters "
		"lend to the thread that took it, which alone releases "
		"it. What the next thread releases is a mutex");
	static_assert(!detail::annotated<L>,
		      "of an annotated_lock, the lock inside is handed over: "
		      "handed_over(lock.inner)");
	if constexpr (requires { lock.note_handed_over(by); }) {
		lock.note_handed_over(by);
		if (order_keeper *const order = kernel_order_keeper())
			order->handed_over(&lock, by);
	}
}

/*
 * Gives a lock that the caller holds another sub-rank, at most 255. On a walk
 * along a list, hand over hand, the child's lock becomes the parent's.
 */
template <typename L>
	requires any_lock<detail::inside<L>>
void set_sub_rank([[maybe_unused]] const L &held, [[maybe_unused]] u32 rank)
{
	if constexpr (has_known_use<L>)
		detail::sub_rank::set(&held, rank);
}

} // namespace klock
