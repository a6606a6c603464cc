/* SPDX-License-Identifier: MIT */
/*
 * lending - who waits for whom, and the priorities that they lend
 *
 * Threads form a tree: each waits for at most one mutex, which one thread
 * holds, and may hold several that others wait for. All of it is written and
 * read with the domain's lock held; inheriting_mutex.hpp says what holds
 * whenever that lock is free.
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/detail/sleeping.hpp>
#include <klock/os.hpp>
#include <klock/plain.hpp>
#include <klock/types.hpp>

namespace klock {

struct inheriting_thread;

namespace detail {

/* The address of a thread in a mutex's word, without the flags. */
inline usize mark_of(const inheriting_thread &thread)
{
	return reinterpret_cast<usize>(&thread);
}

/* The visitor of a chain's links if the caller does not want them. */
struct no_link {
	void operator()(const inheriting_thread &, const void *) const {}
};

struct lender;

/* A mutex, as the domain's holder sees it. */
struct lendable {
	/* Flags in `word`: somebody waits or has given up; the last owner has
	 * ended. */
	static constexpr usize waiters = 1, died = 2;

	[[nodiscard]] inheriting_thread &owner() const
	{
		return *reinterpret_cast<inheriting_thread *>(
			word.load_relaxed() & ~(waiters | died));
	}
	[[nodiscard]] lender *first() const;

	/* Called with the domain's lock held; they change the queue and the
	 * owner's list. leave() does not clear the flag: without the flag the
	 * owner's swap would succeed before leave() is over, and the owner's
	 * thread might end. */
	void enter(lender &one);
	void leave(lender &one);
	/* Puts a waiter whose priority has changed into its position. */
	void move(lender &one);
	/* Makes the first waiter the owner, and wakes it. */
	template <typename Section>
	void pass_on(Section &in, usize flags);

	/* the owner's address, or 0, and flags */
	atomic<usize> word;
	/* the waiters, by priority */
	sleepers queue;
	/* the next of those that its owner holds and others wait for */
	plain<lendable *> next_wanted;
};

/* A waiting thread's node, on its stack. */
struct lender : sleeper {
	lender(inheriting_thread &who, lendable &what)
	    : by(&who), waits_for(&what)
	{
	}

	/* The next thread that waits for a mutex of the same owner; null: this
	 * is the last. */
	[[nodiscard]] lender *sibling() const;

	plain<inheriting_thread *> by;
	plain<lendable *> waits_for;
};

inline lender *lendable::first() const
{
	return static_cast<lender *>(queue.first());
}

inline lender *lender::sibling() const
{
	lendable *const mutex = waits_for.get();

	if (next.get() != mutex->first())
		return static_cast<lender *>(next.get());
	lendable *const other = mutex->next_wanted.get();

	return other ? other->first() : nullptr;
}

} // namespace detail

/*
 * inheriting_thread - what a kernel keeps for each thread
 *
 * klock writes it, with the domain's lock held. Zero bytes: of priority 0. A
 * greater number is more urgent.
 */
struct inheriting_thread {
	constexpr inheriting_thread() = default;
	constexpr explicit inheriting_thread(u32 priority)
	    : base(priority), lent(priority)
	{
	}
	inheriting_thread(const inheriting_thread &) = delete;
	inheriting_thread &operator=(const inheriting_thread &) = delete;

	/* Corrects its priority, and those of the threads that it waits for. */
	void settle()
	{
		inheriting_thread *at = this;

		while (at) {
			const u32 now = at->greatest();

			if (now == at->lent.get())
				return;
			at->lent.set(now);
			klock_os_run_with_priority(at, now);
			at = at->moved();
		}
	}

	void add_wanted(detail::lendable &held)
	{
		held.next_wanted.set(wanted.get());
		wanted.set(&held);
	}
	void drop_wanted(detail::lendable &held)
	{
		plain<detail::lendable *> *at = &wanted;

		while (at->get() != &held)
			at = &at->get()->next_wanted;
		at->set(held.next_wanted.get());
		held.next_wanted.set(nullptr);
	}

	/* The mutex that it waits for, or null. */
	[[nodiscard]] detail::lendable *waits_for() const
	{
		const detail::lender *const node = waits.get();

		return node ? node->waits_for.get() : nullptr;
	}
	/* The length of the longest chain of threads that wait for each other
	 * and for this one. */
	[[nodiscard]] u32 waiting_depth() const;

	/* its own priority, and the one that it runs with */
	plain<u32> base, lent;
	/* its node, while it waits */
	plain<detail::lender *> waits;
	/* the mutexes that it holds and others wait for */
	plain<detail::lendable *> wanted;
	/* the lock of its domain; null: it has neither waited nor been waited
	 * for
	 */
	plain<const void *> domain;
	/* thread_ends() was called: what it holds goes to the next thread */
	plain<bool> ended;

      private:
	[[nodiscard]] u32 greatest() const
	{
		u32 most = base.get();
		detail::lendable *at = wanted.get();

		for (; at; at = at->next_wanted.get()) {
			const u32 first = at->first()->by.get()->lent.get();

			if (first > most)
				most = first;
		}
		return most;
	}

	/* Moves it to its position in the queue that it is in; returns the
	 * thread that it waits for, or null. */
	inheriting_thread *moved()
	{
		detail::lendable *const awaited = waits_for();

		if (!awaited)
			return nullptr;
		awaited->move(*waits.get());
		return &awaited->owner();
	}
};

namespace detail {

inline void lendable::move(lender &one)
{
	const u32 its = one.by.get()->lent.get();

	if (one.is_queued())
		queue.remove(one);
	queue.insert(one, [its](const sleeper &other) {
		return static_cast<const lender &>(other).by.get()->lent.get() <
		       its;
	});
}

inline void lendable::enter(lender &one)
{
	if (queue.empty())
		owner().add_wanted(*this);
	move(one);
	one.by.get()->waits.set(&one);
	owner().settle();
}

inline void lendable::leave(lender &one)
{
	queue.remove(one);
	one.by.get()->waits.set(nullptr);
	if (queue.empty())
		owner().drop_wanted(*this);
	owner().settle();
}

template <typename Section>
inline void lendable::pass_on(Section &in, usize flags)
{
	inheriting_thread &before = owner();
	lender &one = *first();
	inheriting_thread &next = *one.by.get();

	before.drop_wanted(*this);
	queue.remove(one);
	next.waits.set(nullptr);
	if (!queue.empty()) {
		next.add_wanted(*this);
		flags |= waiters;
	}
	word.store_relaxed(mark_of(next) | flags);
	before.settle();
	in.wake(one);
}

} // namespace detail

/* Walks through the tree: down to a waiter, then to its siblings, then up. */
inline u32 inheriting_thread::waiting_depth() const
{
	const inheriting_thread *at = this;
	u32 depth = 0, most = 0;

	for (;;) {
		detail::lendable *const held = at->wanted.get();
		detail::lender *next = held ? held->first() : nullptr;

		if (next && ++depth > most)
			most = depth;
		while (!next && at != this) {
			next = at->waits.get()->sibling();
			if (next)
				break;
			at = &at->waits_for()->owner();
			depth--;
		}
		if (!next)
			return most;
		at = next->by.get();
	}
}

} // namespace klock
