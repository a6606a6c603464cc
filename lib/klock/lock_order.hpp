/* SPDX-License-Identifier: MIT */
/*
 * lock_order - names a deadlock when both orders were seen, not when they meet
 *
 * One line, in one file of a debug build, and all checked locks
 * (checked_lock.hpp) that have a name are watched:
 *
 *	klock::lock_order *klock_os_lock_order()
 *	{
 *		return klock::lock_order_of<64, max_cpus>();
 *	}
 *
 * 64: names of locks that it tells apart, at most order_graph::limit (256).
 * max_cpus: owners that hold locks at once: CPUs, or threads where
 * klock_os_owner_id() names those. Its memory: lock_order_memory, zero bytes,
 * nothing else, no heap: for 64 names 14.5 KiB, 2.5 KiB of it the bitmaps, most
 * of the rest the lines of 128 pairs; for 16 names 3.7 KiB; and 832 bytes an
 * owner; 32 bits: about 2/3. A build without that function, or with
 * lock_order_if<false, 64, max_cpus>(), has none.
 *                                  Checked: unit/lock_order: what it keeps
 * Locks are told apart by name and sub-rank (`nested`, order_calls.hpp): that
 * is a class, an array's elements are of one class. A name is copied, its first
 * 31 characters and a hash of all; it must live as long as the lock. A lock
 * without one is not ordered. A kernel's own locks whose waiters sleep take
 * part where it says so (order_calls.hpp).
 *
 * Source: the idea of Linux's lockdep-design document, that an order is learned
 * from what runs; the bitmaps, the second look and their proof are ours.
 *
 * What ends in a panic, before the caller waits, the first time that its parts
 * were all seen, on whatever CPUs and however far apart in time:
 *	lock order	what is wanted was, over any number of locks, held while
 *			something that is held now was waited for; or another
 *			order is declared (order_calls.hpp)
 *	same class	two of one name, the second neither at a higher address
 *			nor of a higher sub-rank; or two of it by address, and
 *			two by sub-rank
 *	interrupts	a handler waits for a class that comes, over any number
 *			of locks, before one that is held with interrupts on;
 *			one that both read, where reads nest, is no danger
 *	recursion, read recursion, upgrade
 *			of the same lock, however many readers there are
 *	might_wait()	with a lock held (order_calls.hpp)
 * A try_lock() never waits: it adds no edge to its lock, others from it do. One
 * that waits until a deadline waits. Readers count as writers: a fair lock
 * makes them wait for a writer that waits; where reads nest, who reads already
 * waits for nobody. Two that pair_guard takes, of two names, are ordered by
 * address: a cycle of such pairs alone is none. Two orders behind one lock that
 * both hold (a gate) are named. Unlocking in any order is fine. Not seen: that
 * upgrade() waits, for readers who may want a lock that its caller took since.
 * A finding of order may be noted instead, each once: on_finding. It is no part
 * of the order then, nor is what is declared harmless.
 * Tables that are full are said once (klock_os_note), and what has a place in
 * them goes on being checked; of edges beyond it the lines are not named.
 *
 * Context: any. A class that an NMI handler is the first to try is not learned
 * there. Where klock_os_context() cannot tell an NMI, that one must find
 * interrupts off. A context switch with a lock held, or in lock(): as
 * klock_os_owner_id() demands, whether an order is learned or not.
 *
 * -- Why nothing is missed, and nothing said twice ------------------------
 *
 * Ordering: none of its own; the lock of order/rules.hpp brings all.
 *
 * A bit, once set, stays. So whoever sees it may go on: its edge was searched
 * with all that were set before. Looking takes loads alone and needs no order:
 * a stale 0 sends its CPU to the lock, whose acquire, from the last holder's
 * release, shows it every bit that was set before. It looks again there: only
 * one CPU ever sets a bit, and searches for it. Edges are so set one after
 * another; the one that closes a cycle is set after all others of it, and its
 * search sees them: one report, whoever came first. The same for the two kinds
 * of marks that an inversion is made of. Without the second look two may report
 * one cycle; setting bits without the lock, and then searching, misses it.
 *                                              Checked: model/lock_order
 * Who waits has pushed, and been searched, before: a report comes before the
 * hang. What is held is noted until it was released: a handler that comes
 * between two steps sees too much of what is true, never too little; see
 * order/held.hpp.              Checked: unit/lock_order, model/lock_order
 *
 * Cost: an acquisition of what is known: loads, as many as locks are held, and
 * about ten stores to lines of its owner's own; no RMW where owners are CPUs.
 */
#pragma once

#include <klock/detail/checked.hpp>
#include <klock/order/held.hpp>
#include <klock/order/rules.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

/*
 * declared_order - an order of locks that a kernel declares: order_calls.hpp
 */

/* Of one lock's name and another's, or one's rank. */
struct declared_order {
	static constexpr u32 harmless = ~u32{0};

	const char *first;
	const char *second; /* null: first has a rank */
	u32 rank;	    /* of two names: 0, or `harmless` */
};

/* Of two locks that have ranks, that of the lower one is taken first. */
template <u32 Rank>
constexpr declared_order rank(const char *name)
{
	static_assert(Rank != 0, "klock::rank: from 1 on");
	return {name, nullptr, Rank};
}

/* Of two locks: the first one is taken first. */
constexpr declared_order before(const char *first, const char *second)
{
	return {first, second, 0};
}

/*
 * Of two locks: that the second is waited for while the first is held makes no
 * cycle, as something else excludes it (a reference count, a state).
 */
constexpr declared_order harmless(const char *first, const char *second)
{
	return {first, second, declared_order::harmless};
}

/*
 * A finding of order is a danger and no hang yet; this decides about it. note:
 * it goes to klock_os_note(), each of a boot once, and is no part of the order
 * then. The rest is a panic always: recursion, upgrade, might_wait().
 */
enum class on_finding : u8 { panic, note };

/* klock_os_lock_order() points to one. */
struct order_keeper : lock_order, private order_rules {
	template <u32 Classes, u32 Owners>
	constexpr explicit order_keeper(lock_order_memory<Classes, Owners> &of,
					on_finding then = on_finding::panic)
	    : lock_order{wait, attempt, taken, leave, gone, pair},
	      order_rules(of.learning(), then == on_finding::note),
	      owners{of.held, Owners}
	{
	}
	order_keeper(const order_keeper &) = delete;
	order_keeper &operator=(const order_keeper &) = delete;

	/* -- What checked locks say ------------------------------------------
	 */

	/* Before lock(). Returns what the others want. */
	[[nodiscard]] held_place before_wait(const wanted_lock &want)
	{
		if (want.sleeps)
			check_sleep(want);
		const held_place mine = push(want, hold::waiting);

		if (!mine.stack)
			return mine;
		if (is_nested_read(*mine.stack, mine.at, want))
			return mine;
		const u32 number = class_of(
			want.label,
			mine.at ? mine.at->sub_rank.load_relaxed() : u8{0});

		if (mine.at)
			mine.at->set_class(number);
		if (current_context() == context::interrupt)
			note_handler(number, want);
		note_open(*mine.stack, want);
		const u32 size = mine.stack->size();
		for (u32 i = 0; i < size; i++) {
			const held_lock &one = mine.stack->at[i];

			if (&one != mine.at && one.is_in_the_way())
				check_pair(one, mine, want, number);
		}
		return mine;
	}

	/*
	 * Before try_lock(). With interrupts off it may be an NMI handler's,
	 * which must not wait for the lock of the learning: nothing is learned.
	 */
	[[nodiscard]] held_place before_try(const wanted_lock &want)
	{
		const held_place mine = push(want, hold::trying);

		if (mine.stack && current_context() != context::nmi)
			note_open(*mine.stack, want);
		return mine;
	}

	/* It has what it wanted. */
	static void taken(held_place mine)
	{
		if (mine.at)
			mine.at->take();
	}

	/* It has given up, or has released it: the lock may be gone. */
	static void gone(held_place mine)
	{
		if (mine.at)
			mine.stack->pop(*mine.at);
	}

	/* Before unlock(). */
	[[nodiscard]] held_place leaving(const void *lock)
	{
		held_locks *const mine = owners.mine();
		held_lock *const one = mine ? mine->find(lock) : nullptr;

		if (one)
			one->leave();
		return {mine, one};
	}

	/* -- What a kernel says: order_calls.hpp -----------------------------
	 */

	/* The caller is about to wait for what is no lock. but: the one that
	 * is let go meanwhile, or null. */
	void might_wait(call_site by, const void *but)
	{
		const held_locks *const mine = owners.mine();

		for (u32 i = mine ? mine->size() : 0; i-- > 0;) {
			const held_lock &one = mine->at[i];

			if (one.is_there() && !one.is_of(but) && !one.sleeps())
				complain_of_held("might_wait() with a lock "
						 "held",
						 one, by);
		}
	}

	/* The caller acquired a lock that is not klock's and may have slept
	 * for it. */
	void note_acquired(const wanted_lock &want)
	{
		if (current_context() != context::thread)
			return say_order(want, "taken in a handler, but its "
					       "waiters sleep");
		taken(before_wait(want));
	}

	/* This memory is given back. */
	void none_held_in(const void *from, usize bytes, call_site by) const
	{
		const usize first = reinterpret_cast<usize>(from);

		for (u32 i = 0; i < owners.owners; i++) {
			const held_locks &stack = owners.all[i];

			for (u32 at = 0; at < stack.size(); at++)
				if (is_held_in(stack.at[at], first, bytes))
					complain_of_held("freed with the lock "
							 "in it held",
							 stack.at[at], by);
		}
	}

	/* The caller takes these two by address, the second one next. Returns
	 * what was so before. */
	[[nodiscard]] address_pair next_by_address(const address_pair &next)
	{
		held_locks *const mine = owners.mine();

		if (!mine)
			return {};
		const address_pair before = {mine->lower.load_relaxed(),
					     mine->higher.load_relaxed()};

		/* A handler in between finds no pair. */
		mine->higher.store_relaxed(0);
		mine->lower.store_relaxed(next.lower);
		mine->higher.store_relaxed(next.higher);
		return before;
	}

	/* The caller's lock is of this sub-rank from now on. */
	void relabel(const void *lock, u8 sub_rank)
	{
		held_locks *const mine = owners.mine();

		if (held_lock *const one = mine ? mine->find(lock) : nullptr) {
			one->class_plus_1.store_relaxed(0);
			one->sub_rank.store_relaxed(sub_rank);
		}
	}

	/* The caller's stack, or null where it holds nothing. */
	[[nodiscard]] held_locks *mine() const { return owners.mine(); }
	/* As claim(), and the caller's until it disclaims it. */
	[[nodiscard]] held_locks *claim_mine() const
	{
		return owners.claim_mine();
	}

	/* The caller's places that are in use, a bit each. */
	[[nodiscard]] u32 places() const
	{
		const held_locks *const mine = owners.mine();
		u32 used = 0;

		for (u32 i = 0; mine && i < mine->size(); i++)
			used |= u32{mine->at[i].is_there()} << i;
		return used;
	}

	/* A handler returns: reports each lock that it took and still holds. */
	void check_as_before(u32 places_then, call_site by) const
	{
		const u32 more = places() & ~places_then;

		for (u32 i = 0; i < held_locks::most; i++)
			if (more >> i & 1)
				complain_of_held("a handler returns with it "
						 "held",
						 owners.mine()->at[i], by);
	}

	/* All that is noted, of everybody: print_held.hpp. */
	[[nodiscard]] held_by_owners everybody() const { return owners; }

	/* Each of them from now on, as if it had been seen. */
	void declare(const declared_order *list, usize size, call_site by)
	{
		for (usize i = 0; i < size; i++)
			if (list[i].second)
				declare_pair(list[i], by);
			else
				declare_rank(list[i], by);
	}

      private:
	/* -- What lock_order points to: a checked lock has no more of it -- */

	static held_place wait(lock_order &of, const wanted_lock &want)
	{
		return static_cast<order_keeper &>(of).before_wait(want);
	}
	static held_place attempt(lock_order &of, const wanted_lock &want)
	{
		return static_cast<order_keeper &>(of).before_try(want);
	}
	static held_place leave(lock_order &of, const void *lock)
	{
		return static_cast<order_keeper &>(of).leaving(lock);
	}
	static address_pair pair(lock_order &of, const address_pair &next)
	{
		return static_cast<order_keeper &>(of).next_by_address(next);
	}

	/* A reader that reads it again where reads nest waits for nobody:
	 * neither a writer nor the order of what was taken between the two. */
	static bool is_nested_read(const held_locks &mine, const held_lock *at,
				   const wanted_lock &want)
	{
		if (!want.is_nested())
			return false;
		for (u32 i = 0; i < mine.size(); i++) {
			const held_lock &one = mine.at[i];

			if (&one != at && one.is_of(want.lock) &&
			    one.is_read() && one.is_held())
				return true;
		}
		return false;
	}

	void check_sleep(const wanted_lock &want)
	{
		const held_locks *const mine = owners.mine();

		for (u32 i = 0; mine && i < mine->size(); i++)
			if (mine->at[i].is_there() && !mine->at[i].sleeps())
				check_sleep_under(mine->at[i], want);
	}

	/* A spinning lock is held, unless that is declared harmless: the lock
	 * was known to be free. */
	void check_sleep_under(const held_lock &held, const wanted_lock &want)
	{
		const u32 from = class_of(held);
		const u32 to = class_of(want.label, 0);

		if (from == lock_classes::none || to == lock_classes::none ||
		    !is_declared_harmless(from, to))
			complain_of_held("might_wait() with a lock held", held,
					 want.by);
	}

	/* Another owner may write it meanwhile. */
	static bool is_held_in(const held_lock &one, usize first, usize bytes)
	{
		const usize lock = one.address.load_relaxed();

		return lock > held_lock::gone && lock - first < bytes &&
		       one.is_held() && one.address.load_relaxed() == lock;
	}

	held_place push(const wanted_lock &want, hold how)
	{
		const held_place mine = owners.push();

		if (!mine.at) {
			say_once(mine.stack ? full_stack : full_owners);
			return mine;
		}
		const bool is_ranked = mine.stack->ranked.load_relaxed() ==
				       reinterpret_cast<usize>(want.lock);
		mine.at->note(want, how,
			      is_ranked ? mine.stack->rank.load_relaxed()
					: u8{0});
		return mine;
	}

	void declare_pair(const declared_order &one, call_site by)
	{
		const u32 from = class_of({one.first, 0}, 0);
		const u32 to = class_of({one.second, 0}, 0);

		if (from == lock_classes::none || to == lock_classes::none)
			return;
		if (one.rank == declared_order::harmless)
			declare_harmless(from, to);
		else
			declare_edge(from, to, by);
	}

	void declare_rank(const declared_order &one, call_site by)
	{
		const u32 number = class_of({one.first, 0}, 0);

		if (number == lock_classes::none)
			return;
		sites.ranks[number].set(one.rank);
		for (u32 i = 0; i < graph.classes; i++) {
			const u32 other = sites.ranks[i].get();

			if (other != 0 && other < one.rank)
				declare_edge(i, number, by);
			if (other > one.rank)
				declare_edge(number, i, by);
		}
	}

	held_by_owners owners;
};

/* The kernel's, or null: all that it can be asked. */
inline order_keeper *kernel_order_keeper()
{
	return static_cast<order_keeper *>(kernel_lock_order());
}

/* One for the whole kernel, see above; its memory is zero until it is used. */
template <u32 Classes, u32 Owners, on_finding Then = on_finding::panic>
lock_order *lock_order_of()
{
	static constinit lock_order_memory<Classes, Owners> memory;
	static constinit order_keeper order(memory, Then);

	return &order;
}

/* The same if Checks; else null, and no memory. */
template <bool Checks, u32 Classes, u32 Owners,
	  on_finding Then = on_finding::panic>
lock_order *lock_order_if()
{
	if constexpr (Checks)
		return lock_order_of<Classes, Owners, Then>();
	else
		return nullptr;
}

} // namespace klock
