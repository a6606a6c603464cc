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
 *              unlock() are a compare-and-swap each. If nobody waits, a thread
 *              that finds the mutex held tries again some times (Spins). A
 *              waiter sets a flag in the word, so that the owner must look at
 *              the queue when it leaves. The waiter queues by priority, FIFO
 *              within one priority, and lends its priority to the owner. If the
 *              owner waits itself, it moves forward in its queue, and lends to
 *              the next owner. The first waiter looks some times (Looks)
 *              whether it has the mutex before it parks. unlock() gives the
 *              loan back, and the mutex to the first waiter: nobody passes
 *              those who queue. All but the two compare-and-swaps is under one
 *              spin lock, the domain's, so nobody ever sees half of a chain of
 *              loans.
 * Source:      Sha, Rajkumar, Lehoczky, "Priority Inheritance Protocols", IEEE
 *              Trans. Computers 39(9), 1990. The word is as that of Linux's
 *              rt_mutex; the rest of the state and the proof are ours.
 * Use when:    threads of several priorities share it, and the highest must not
 *              wait for those between. Otherwise mutex: here a section costs a
 *              context switch once threads sleep, and all mutexes of a domain
 *              queue under one lock.
 * Size:        24 bytes, on 32 bits 12; a waiter: 48 or 24 on its stack; a
 *              thread: 40 or 24           Checked: unit/inheriting_mutex: sizes
 * Zero bytes:  free; a thread's: of priority 0
 *                                       Checked: unit/inheriting_mutex: sizes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases      Checked: model/inheriting_mutex: freed by
 * Fairness:    of those who queue, the one with the highest priority is next;
 *              FIFO within one priority. A thread has queued, and lent, after
 *              Spins iterations
 *                                 Checked: unit/inheriting_mutex: in turn,
 *                                 unit/inheriting_mutex: tries
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
 * While nobody holds the domain's lock, each thread's priority is the greatest
 * of its own and of those of all threads that wait for a mutex it holds. A
 * thread keeps a list of the mutexes that it holds and others wait for. A
 * thread that waits, gives up, unlocks or changes its priority corrects the
 * priority of that mutex's owner, then of the owner of the mutex that this one
 * waits for, and so on, until nothing changes. The thread that gets a mutex
 * needs no correction: it was the first in the queue, so no waiter that is left
 * has a higher priority.
 *
 * A swap by the owner or by an arriving thread fails once the flag is set. If
 * it comes before the flag, the thread that sets the flag finds the mutex free,
 * and takes it. So the owner that a waiter waits for does not change while the
 * domain's lock is held. A waiter that gives up does not clear the flag: so
 * unlock() takes the domain's lock. After it nobody looks at the former owner's
 * thread, which may end.
 *                                 Checked: model/inheriting_mutex: each makes
 *
 * Spinning delays by a bounded time. A thread that has not queued lends
 * nothing, and one of a lower priority may take the mutex before it: that
 * lasts for at most Spins iterations of cpu_relax(). A thread that looks has
 * lent, but keeps its CPU: an owner that can run on no other waits until it
 * parks. So an inversion takes at most Spins + Looks iterations longer than
 * without them. With the usual 64 and 128 that is 12,000 cycles on a Zen 5,
 * and 27,000 on a CPU whose PAUSE takes 140. It is nothing if the port says
 * spins_before_sleep = 0, as one for a machine with one CPU should.
 *                                 Checked: unit/inheriting_mutex: tries
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
 *	O1 and O2 publish the owner's address, and so the inheriting_thread
 *	there, which its thread may just have constructed: they release, and O6
 *	acquires before the waiter reads it. A waiter that finds the flag set
 *	needs no order of its own: the waiter that set it has held the domain's
 *	lock since. O3 takes a mutex with that lock held, and whoever reads the
 *	owner's fields holds that lock later.
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
 *
 * In a debug build, the lock of a kernel's own domain may be a checked one
 * (checked_lock<preemptable_ticket_lock<u8>, "priorities">). It takes part in
 * the order of locks, and names a callback that comes back into its domain.
 *                                 Checked: unit/inheriting_mutex: a callback
 */
struct inheritance {
	static constexpr u32 max_chain = 64;
	static inline constinit detail::sleepers_lock lock;
};

namespace detail {

/* Everything that is done for a thread is under the lock that it notes. */
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

/* The order forgets what an ended thread held. print_held() may follow the
 * panic of a wrong end, so that comes first. */
template <typename Domain>
[[gnu::noinline]] void
order_forgets(lock_order &order, const inheriting_thread &thread, call_site by)
{
	{
		const domain_seen seen(by);
		const auto first = section_at(Domain::lock, by);

		check_end(thread, &Domain::lock);
	}
	order.on_end(order, thread);
}

} // namespace detail

/*
 * Changes a thread's own priority. Called by the kernel, in any context in
 * which it may take the domain's lock, and without the scheduler's lock. The
 * thread may run, wait, or neither.
 */
template <typename Domain = inheritance>
void priority_changed(inheriting_thread &thread, u32 priority,
		      call_site by = caller_site())
{
	const domain_seen seen(by);
	const auto in = detail::section_at(Domain::lock, by);

	detail::check_domain(thread, &Domain::lock, &thread);
	thread.base.set(priority);
	thread.settle();
}

/*
 * Called when a thread ends that has not released what it held. Calls
 * holds(address) for each inheriting_mutex that the thread holds and others
 * wait for, with the domain's lock held and interrupts off; the caller must not
 * hold the scheduler's lock. For a checked mutex, the address is that of the
 * mutex in it. The thread waits for none, and must take none any more: a wait
 * is a panic, and so is an acquisition if it is checked. If hands_over, each of
 * these mutexes goes to its first waiter. A mutex without waiters goes to the
 * next thread that takes it, but not by try_lock(). The new owner learns it by
 * owner_died(). Without hands_over, waiters wait for ever. In both cases the
 * object must stay as long as the word of a mutex may name it, and until then
 * neither it nor its klock_os_thread() may become another thread's.
 *
 * holds() may use no mutex of the domain, nor call priority_changed() or
 * thread_ends(): it would wait for the lock that its own caller holds. So would
 * the link() of a lock_until(). A checked lock as the domain's names this, and
 * so does a kernel's lock order; there a link() is that of a checked mutex.
 *				Checked: unit/inheriting_mutex: a callback
 *
 * holds() is not called for a mutex without waiters: only its own word knows
 * its owner. A kernel with a lock order knows all checked ones: if hands_over,
 * each of them is a line to klock_os_note(), and the thread does not hold it
 * any more.
 */
template <typename Domain = inheritance, typename Holds>
void thread_ends(inheriting_thread &thread, bool hands_over, Holds holds,
		 call_site by = caller_site())
{
	lock_order *const order = kernel_lock_order();

	if (order && hands_over)
		detail::order_forgets<Domain>(*order, thread, by);
	const domain_seen seen(by);
	auto in = detail::section_at(Domain::lock, by);
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

/*
 * Spins: tries before a thread queues. Looks: how often the first waiter looks
 * before it parks. The others do not look: they are not next, and eight threads
 * on 2 cores would be slower than without.
 */
template <typename Domain = inheritance, u32 Spins = spins_before_sleep,
	  u32 Looks = 2 * Spins>
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
	 * its links, as many as fit into 1023 characters. It is one even if
	 * another thread in it waits by a deadline, and would give up. */
	void lock()
	{
		usize found = 0;

		if (!word.compare_exchange_acq_rel(found, me())) /* O1 */
			lock_for_ever();
	}

	/* For checks: calls refusal.refused(why, walk) in place of the panic of
	 * a chain, with the domain's lock held; walk(link) is lock_until()'s.
	 * If that returns, the panic follows. */
	template <typename Refusal>
		requires requires(const Refusal &of,
				  void walk(detail::no_link)) {
			of.refused(wait_result::deadlock, walk);
		}
	void lock(Refusal &refusal)
	{
		refusal_to<Refusal> to = {*this, refusal};
		const link_visitor first = {to.tell, &to};

		if (try_lock())
			return;
		if (kernel_lock_order())
			learn_domain(refusal.by);
		if (lock_slowly(nullptr, &first) != wait_result::had)
			lock_for_ever();
	}

	/* Takes the mutex if it is free; never sleeps. */
	[[nodiscard]] bool try_lock()
	{
		usize found = word.load_relaxed();

		return found == 0 &&
		       word.compare_exchange_acq_rel(found, me()); /* O2 */
	}

	/*
	 * lock() by a deadline of cycles(), or until the kernel ends the wait
	 * (klock_os_park_until()). No spin iteration follows the deadline. The
	 * caller holds the mutex if the result is `had`. If it is `deadlock` or
	 * `too_deep`, it has not waited, and link(thread, mutex) was called for
	 * each link, the caller's first: that thread waits for that mutex,
	 * which the thread of the next link holds. link() is called with the
	 * domain's lock held and interrupts off.
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

	/* Only the holder may call it; it panics if another thread does. */
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
	/* Whether somebody waits, or has waited since it was taken: a hint,
	 * too. */
	[[nodiscard]] bool is_contended() const
	{
		return word.load_relaxed() & waiters;
	}
	/* Whether the caller holds it. Exact: no other thread can change
	 * that. */
	[[nodiscard]] bool is_owned_by_me() const
	{
		return (word.load_relaxed() & ~(waiters | died)) == me();
	}
	/* Whether the holder got it from a thread that ended; what the mutex
	 * protects may then be half-changed. Called by the holder, before its
	 * unlock() or the wait of a condition. */
	[[nodiscard]] bool owner_died() const
	{
		return word.load_relaxed() & died;
	}

      private:
	using section = detail::inner_section<decltype(Domain::lock)>;

	/* Called for each link of a chain. */
	struct link_visitor {
		void (*visit)(void *to, const inheriting_thread &waits,
			      const void *wanted);
		void *to;
	};

	/* Is told of the first link, and then has the whole chain. */
	template <typename Refusal>
	struct refusal_to {
		static void tell(void *to, const inheriting_thread &first,
				 const void *)
		{
			auto &me = *static_cast<refusal_to *>(to);

			if (me.is_told)
				return;
			me.is_told = true;
			me.refusal.refused(
				me.mutex.why_not(first), [&](auto link) {
					me.mutex.for_each_link(first, link);
				});
		}

		const inheriting_mutex_in &mutex;
		Refusal &refusal;
		bool is_told = false;
	};

	static usize me()
	{
		return detail::mark_of(*klock_os_inheriting_thread());
	}

	/* A wait calls the kernel with the domain's lock held, and it is not
	 * known in which part of it. So the order learns before what a call
	 * takes that says nothing new. */
	static void learn_domain(call_site by)
	{
		inheriting_thread &thread = *klock_os_inheriting_thread();
		const domain_seen seen(by);
		const section in(Domain::lock);

		klock_os_run_with_priority(&thread, thread.lent.get());
	}

	[[gnu::noinline]] void lock_for_ever()
	{
		(void)lock_slowly(nullptr, nullptr);
	}

	[[gnu::noinline]] wait_result lock_slowly(const u64 *until,
						  const link_visitor *links)
	{
		if (took_in_time(until))
			return wait_result::had;
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
		if (queue.first() == &node)
			(void)in.template sleep<Looks>(node, until);
		else
			(void)in.sleep(node, until);
		if (!node.is_queued())
			return wait_result::had;
		leave(node);
		return why_ended(false, *until);
	}

	/* Tries again some times. If somebody waits, unlock() hands the mutex
	 * over, and no try succeeds. */
	bool took_in_time(const u64 *until)
	{
		for (u32 i = 0;
		     i < Spins && !is_contended() && !detail::is_over(until);
		     i++) {
			cpu_relax();
			if (try_lock())
				return true;
		}
		return false;
	}

	/* True: the caller has taken it, as it was free, or its owner has
	 * ended. False: the owner will look at the queue. */
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

	/* Returns `had` if the caller may wait. The loop ends, as no chain is a
	 * cycle. */
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

	/* Refuses a wait; panics if there is no function for the links. */
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

		text.add(why == wait_result::deadlock ? "deadlock"
						      : waits_too_deep);
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
