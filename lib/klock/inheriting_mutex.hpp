/* SPDX-License-Identifier: MIT */
/*
 * inheriting_mutex - a mutex whose owner runs with its waiters' priority
 *
 *	constinit klock::inheriting_mutex bus;
 *
 *	klock::guard held(bus);				guards as of any lock
 *	const auto why = bus.lock_until(deadline);	in cycles()
 *	if (why == klock::wait_result::killed) ...
 *
 * Algorithm:   A word holds the owner's address. Without waiters, lock() and
 *              unlock() are a compare-and-swap each. A waiter sets a flag in
 *              the word, so that the owner cannot leave without a look; queues,
 *              by priority, and FIFO within one; and lends its priority to the
 *              owner. If that waits itself, it moves in that queue and lends to
 *              the next owner. unlock() gives the loan back, and the mutex to
 *              the first waiter: nobody barges. All but the two swaps is under
 *              one spin lock, the domain's, so that nobody ever sees half of a
 *              chain of loans.
 * Source:      Sha, Rajkumar, Lehoczky, "Priority Inheritance Protocols", IEEE
 *              Trans. Computers 39(9), 1990. The word is as that of Linux's
 *              rt_mutex; the rest of the state and the proof are ours.
 * Use when:    threads of several priorities share it, and the highest must not
 *              wait for the middle ones. Otherwise mutex: here a section costs
 *              a context switch once threads queue, and all mutexes of a domain
 *              queue under one lock.
 * Size:        24 bytes, on 32 bits 12; a waiter: 48 or 24 on its stack; a
 *              thread: 40 or 24           Checked: unit/inheriting_mutex: sizes
 * Zero bytes:  free; a thread's: of priority 0
 *                                       Checked: unit/inheriting_mutex: sizes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases      Checked: model/inheriting_mutex: freed by
 * Fairness:    the waiter with the highest priority is next; FIFO within one
 *                                 Checked: unit/inheriting_mutex: in turn
 * Capacity:    any number of threads; max_chain (64) that wait for each other
 *              in a row: one more is refused
 *                                 Checked: unit/inheriting_mutex: a chain
 * Context:     threads, interrupts on and no spin lock held in lock(). No
 *              handlers: they have no priority to lend. No recursion: a
 *              deadlock of one. klock_os_park() must not take one itself. The
 *              kernel supplies the six functions of klock/os.hpp about threads,
 *              klock_os_cpu_id() and klock_os_panic().
 * Assumes:     a compare-and-swap of a pointer, and what the domain's lock
 *              assumes
 *
 * State (word):  while waiters is set, only the domain's holder writes it; if
 *		nobody holds the domain, it is set if somebody waits
 *	free --lock--> owner --unlock--> free
 *	owner --another waits--> owner + waiters
 *	owner + waiters --unlock--> the first (+ waiters, if others are left)
 *	owner + waiters, all of whom gave up --unlock--> free
 *	owner that ended --lock, or its thread_ends()--> the next + died
 *
 * While nobody holds the domain, each thread's priority is the greatest of its
 * own and of those of all who wait for what it holds: a thread keeps a list of
 * such mutexes. Who waits, gives up, unlocks, or changes its priority settles
 * the owner of that mutex, and along what that one waits for, until nothing
 * changes. Who gets the mutex needs nothing: it was the first of the queue, so
 * nobody who is left is higher.
 *
 * A swap by the owner or by who arrives fails once the flag is set, or it comes
 * before the flag: then who sets it finds the mutex free, and takes it. So a
 * waiter's owner is stable while the domain is held. Who gives up lets the flag
 * stay: unlock() then takes the domain's lock, and after it nobody looks at the
 * thread that was the owner, which may end.
 *                                 Checked: model/inheriting_mutex: each makes
 *
 * Ordering:
 *	O1  lock           word.compare_exchange_acq_rel  pairs with O4, O5, O6
 *	O2  try_lock       word.compare_exchange_acq_rel  pairs with O4, O5, O6
 *	O3  took_or_marked word.compare_exchange_acquire  pairs with O4, O5
 *	O4  unlock         word.compare_exchange_release  pairs with O1 to O3
 *	O5  unlock_slowly  word.store_release             pairs with O1 to O3
 *	O6  took_or_marked word.compare_exchange_acquire  pairs with O1, O2
 *                                 Checked: model/inheriting_mutex: orders
 *
 *	O1 and O2 publish the owner's address, and so the inheriting_thread that
 *	lies there, which its thread may just have made: they release, and O6
 *	acquires before the waiter reads it. A waiter that finds the flag set
 *	needs no order of its own: the waiter that set it has held the domain's
 *	lock since. O3 takes a mutex with that lock held, and who reads the
 *	owner's fields holds it later.
 *
 *	All else is under the domain's lock, which orders it: a hand-over, too.
 *
 * The domain's lock is held, with interrupts off, for at most max_chain steps
 * along a chain. A step looks at the wanted mutexes of one thread, and moves it
 * in one queue. A thread that begins to wait, and for which others wait, first
 * looks at all of these.
 *
 * Cost:        uncontended: 2 RMW, 1 line, and two calls of
 *              klock_os_inheriting_thread(): where that is inline, and one
 *              instruction, none more than mutex
 *                                 Checked: model/inheriting_mutex: cost,
 *                                 codegen/uncontended
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/detail/lending.hpp>
#include <klock/detail/order_hook.hpp>
#include <klock/detail/sleeping.hpp>
#include <klock/detail/text.hpp>
#include <klock/os.hpp>

namespace klock {

/*
 * The threads and mutexes that one spin lock protects. A kernel may have others
 * by types like this. A thread uses mutexes of one: the other is a panic.
 */
struct inheritance {
	static constexpr u32 max_chain = 64;
	static inline constinit detail::sleepers_lock lock;
};

namespace detail {

/* All that is done for a thread is under the lock that it notes. */
inline void check_domain(const inheriting_thread &thread, const void *lock,
			 const void *reported)
{
	const void *const its = thread.domain.get();

	if (its && its != lock)
		panic("inheriting_mutex", reported, cpu_id(),
		      "the thread has used mutexes of another domain");
}

inline void check_end(const inheriting_thread &thread, const void *lock)
{
	check_domain(thread, lock, &thread);
	if (thread.waits.get())
		panic("inheriting_mutex", &thread, cpu_id(),
		      "a thread ends while it waits");
}

} // namespace detail

/*
 * A thread's own priority is another: called by the kernel, in any context in
 * which it may take the domain's lock. The thread may run, wait, or neither.
 */
template <typename Domain = inheritance>
void priority_changed(inheriting_thread &thread, u32 priority)
{
	const detail::inner_section in(Domain::lock);

	detail::check_domain(thread, &Domain::lock, &thread);
	thread.base.set(priority);
	thread.settle();
}

/*
 * A thread ends, and has not released what it held: calls holds(address) for
 * each inheriting_mutex of it that others wait for, with the domain's lock held
 * and interrupts off; of a checked one, the address of the mutex in it. It
 * waits for none, and takes none any more: its waits are panics, and all that
 * it takes if that is checked. If hands_over, the first waiters have them, and
 * who takes another one gets it, too, but not by try_lock(); each learns it by
 * owner_died(). Without hands_over who waits does so for ever. In both cases
 * the object must stay, and neither it nor its klock_os_thread() be another
 * thread's, for as long as the word of a mutex may name it.
 *
 * A mutex that nobody waits for is not named: only its own word knows its
 * owner. A kernel with a lock order knows all that are checked: if hands_over,
 * each is a line to klock_os_note(), and not held by the thread any more.
 */
template <typename Domain = inheritance, typename Holds>
void thread_ends(inheriting_thread &thread, bool hands_over, Holds holds)
{
	lock_order *const order = kernel_lock_order();

	if (order && hands_over) {
		{
			/* print_held() may follow its panic. */
			const detail::inner_section first(Domain::lock);

			detail::check_end(thread, &Domain::lock);
		}
		order->on_end(*order, thread);
	}
	detail::inner_section in(Domain::lock);
	detail::lendable *at = thread.wanted.get();

	detail::check_end(thread, &Domain::lock);
	thread.ended.set(hands_over);
	while (at) {
		detail::lendable &held = *at;

		at = held.next_wanted.get();
		holds(static_cast<const void *>(&held));
		if (hands_over)
			held.pass_on(in, detail::lendable::died);
	}
}

template <typename Domain = inheritance>
struct inheriting_mutex_in : private detail::lendable {
	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};
	/* Threads that wait for each other in a row. */
	static constexpr u32 max_chain = Domain::max_chain;
	/* For checks: its waiters give their CPU away, and no handler takes it.
	 */
	using waiters_sleep = void;
	using taken_in_threads_alone = void;

	constexpr inheriting_mutex_in() = default;
	inheriting_mutex_in(const inheriting_mutex_in &) = delete;
	inheriting_mutex_in &operator=(const inheriting_mutex_in &) = delete;

	/* Sleeps until the caller holds it. A deadlock is a panic that shows
	 * its links, as many as 1023 characters have room for: also if another
	 * thread in it waits by a deadline, and would give up. */
	void lock()
	{
		usize found = 0;

		if (!word.compare_exchange_acq_rel(found, me())) /* O1 */
			lock_for_ever();
	}

	/* Takes it if it is free; never sleeps. */
	[[nodiscard]] bool try_lock()
	{
		usize found = word.load_relaxed();

		return found == 0 &&
		       word.compare_exchange_acq_rel(found, me()); /* O2 */
	}

	/*
	 * lock() by a deadline of cycles(), or until the kernel ends the wait
	 * (klock_os_park_until()); only after `had` the caller holds it. After
	 * `deadlock` or `too_deep` it has not waited. link(thread, mutex) was
	 * then called for each link, the caller's first: that thread waits for
	 * that mutex, which the next one holds. It is called with the domain's
	 * lock held and interrupts off.
	 */
	template <typename Link = detail::no_link>
	[[nodiscard]] wait_result lock_until(u64 deadline, Link link = {})
	{
		const link_visitor links = {
			[](void *to, const inheriting_thread &waits,
			   const void *wanted) {
				(*static_cast<Link *>(to))(waits, wanted);
			},
			&link};

		return try_lock() ? wait_result::had
				  : lock_slowly(&deadline, &links);
	}
	/* lock_until(). False: the caller does not hold it; why_ended() cannot
	 * tell it from a deadlock. */
	[[nodiscard]] bool try_lock_until(u64 deadline)
	{
		return lock_until(deadline) == wait_result::had;
	}
	/* try_lock_until() a deadline that many cycles from now. */
	[[nodiscard]] bool try_lock_for(u64 how_long)
	{
		return try_lock_until(deadline_in(how_long));
	}

	/* Panics if another than the holder calls it. */
	void unlock()
	{
		usize found = me();

		if (!word.compare_exchange_release(found, 0)) /* O4 */
			unlock_slowly();
	}

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return word.load_relaxed() != 0;
	}
	/* Whether somebody waits, or has since it was taken: a hint, too. */
	[[nodiscard]] bool is_contended() const
	{
		return word.load_relaxed() & waiters;
	}
	/* Whether the caller holds it. Exact: nobody else can change that. */
	[[nodiscard]] bool is_owned_by_me() const
	{
		return (word.load_relaxed() & ~(waiters | died)) == me();
	}
	/* For the holder, until its unlock(), or the wait of a condition:
	 * whether it has it from a thread that ended. What the mutex protects
	 * may be half-changed. */
	[[nodiscard]] bool owner_died() const
	{
		return word.load_relaxed() & died;
	}

      private:
	using section = detail::inner_section<decltype(Domain::lock)>;

	/* A function that is told of each link of a chain. */
	struct link_visitor {
		void (*visit)(void *to, const inheriting_thread &waits,
			      const void *wanted);
		void *to;
	};

	static usize me()
	{
		return detail::mark_of(*klock_os_inheriting_thread());
	}

	[[gnu::noinline]] void lock_for_ever()
	{
		(void)lock_slowly(nullptr, nullptr);
	}

	[[gnu::noinline]] wait_result lock_slowly(const u64 *until,
						  const link_visitor *links)
	{
		inheriting_thread &thread = *klock_os_inheriting_thread();
		section in(Domain::lock);

		check_domain(thread);
		if (thread.waits.get())
			misused("a wait inside klock_os_park()");
		if (thread.ended.get())
			misused("taken by a thread that has ended");
		if (took_or_marked(thread))
			return wait_result::had;
		check_domain(owner());
		const wait_result why = why_not(thread);

		if (why != wait_result::had) {
			refuse(thread, why, links);
			return why;
		}
		detail::lender node(thread, *this);

		enter(node);
		(void)in.sleep(node, until);
		if (!node.is_queued())
			return wait_result::had;
		leave(node);
		return why_ended(false, *until);
	}

	/* True: it was free, or its owner has ended, and is taken. False: its
	 * owner will look at the queue. */
	bool took_or_marked(const inheriting_thread &thread)
	{
		usize now = word.load_relaxed();

		for (;;) {
			if (now == 0) {
				if (word.compare_exchange_acquire(
					    now,
					    detail::mark_of(thread))) /* O3 */
					return true;
			} else if (now & waiters ||
				   word.compare_exchange_acquire(
					   now, now | waiters)) { /* O6 */
				break;
			}
		}
		if (!owner().ended.get())
			return false;
		word.store_relaxed(detail::mark_of(thread) | died);
		return true;
	}

	/* had: it may wait. The owner's chain ends, as all of them do. */
	wait_result why_not(const inheriting_thread &thread) const
	{
		const detail::lendable *at = this;
		u32 links = 0;

		while (at) {
			const inheriting_thread &next = at->owner();

			if (&next == &thread)
				return wait_result::deadlock;
			links++;
			at = next.waits_for();
		}
		return links + thread.waiting_depth() > max_chain
			       ? wait_result::too_deep
			       : wait_result::had;
	}

	/* Calls link(thread, mutex) for each, from a thread that would wait. */
	template <typename Link>
	void for_each_link(const inheriting_thread &first, Link link) const
	{
		const inheriting_thread *waits = &first;
		const detail::lendable *at = this;

		while (at) {
			link(*waits, static_cast<const void *>(at));
			waits = &at->owner();
			at = waits == &first ? nullptr : waits->waits_for();
		}
	}

	/* A wait that is refused; without links it panics. */
	[[gnu::noinline]] void refuse(const inheriting_thread &thread,
				      wait_result why,
				      const link_visitor *links)
	{
		if (links)
			return for_each_link(
				thread, [&](auto &waits, const void *wanted) {
					links->visit(links->to, waits, wanted);
				});
		bounded_text<1024> text;

		text.add(why == wait_result::deadlock
				 ? "deadlock"
				 : "more threads wait for each other in a row "
				   "than max_chain");
		for_each_link(thread, [&](auto &waits, const void *wanted) {
			text.add("; thread ")
				.add_hex(detail::mark_of(waits))
				.add(" waits for ")
				.add_hex(reinterpret_cast<usize>(wanted));
		});
		misused(text.c_str());
	}

	[[gnu::noinline]] void unlock_slowly()
	{
		section in(Domain::lock);

		if (!is_owned_by_me())
			misused("unlock() by a thread that does not hold it");
		check_domain(*klock_os_inheriting_thread());
		if (queue.empty())
			word.store_release(0); /* O5 */
		else
			pass_on(in, 0);
	}

	void check_domain(inheriting_thread &thread) const
	{
		detail::check_domain(thread, &Domain::lock, this);
		thread.domain.set(&Domain::lock);
	}

	[[noreturn]] void misused(const char *what) const
	{
		panic("inheriting_mutex", this, cpu_id(), what);
	}
};

using inheriting_mutex = inheriting_mutex_in<>;

} // namespace klock
