/* SPDX-License-Identifier: MIT */
/*
 * lock_order - reports a possible deadlock once both orders were seen
 *
 * One function in one file of a debug build makes it watch all checked locks
 * (checked_lock.hpp) that have a name:
 *
 *	klock::lock_order *klock_os_lock_order()
 *	{
 *		return klock::lock_order_of<64, max_cpus>();
 *	}
 *
 * 64: the lock names that it tells apart, at most order_graph::limit (256).
 * max_cpus: the owners that hold locks at once: CPUs, plus threads that hold
 * locks whose waiters sleep; or only threads, if klock_os_owner_id() returns
 * those. Its memory is lock_order_memory, zero bytes, and no heap. For 64 names
 * it is 15.5 KiB, of which 3.5 KiB are the bitmaps, and most of the rest the
 * lines of 128 pairs; for 16 names 4 KiB. Each owner adds 832 bytes, and 128
 * for each 64 names. On 32 bits it is about 2/3 of that. A build without that
 * function, or with lock_order_if<false, 64, max_cpus>(), has none.
 *                                  Checked: unit/lock_order: what it keeps
 * A class is all locks of one name and sub-rank (`nested`, order_calls.hpp);
 * the elements of an array are of one class. The first 31 characters of a name,
 * and a hash of it all, are copied; the name must live as long as the lock. A
 * lock without a name is not ordered. A kernel's own locks whose waiters sleep
 * take part if the kernel reports them (order_calls.hpp).
 *
 * Source: the idea of Linux's lockdep-design document, that an order is learned
 * from what runs; the bitmaps, the second look and their proof are ours.
 *
 * Findings. Each panics before the caller waits, as soon as all of its parts
 * were seen, on whatever CPUs and however far apart in time:
 *	lock order	the lock that is wanted was held, over any number of
 *			locks, while one that is held now was waited for; or the
 *			other order is declared (order_calls.hpp)
 *	event		a semaphore, completion, condition or wait_queue is
 *			waited for with a lock held that each caller who ends
 *			such waits has waited for and holds then; or that lock
 *			comes before it in the order. See below
 *	same class	two of one name, the second neither at a higher address
 *			nor of a higher sub-rank; or two of that name by
 *			address, and two by sub-rank
 *	interrupts	a handler waits for a class that comes, over any number
 *			of locks, before one that is held with interrupts on; a
 *			class that both only read, where reads nest, is no
 *			danger
 *	recursion, read recursion, upgrade
 *			of the same lock, however many readers there are
 *	sleep		a wait for a lock whose waiters sleep, might_wait() or
 *			might_switch() with a spinning lock held
 * A try_lock() waits for nobody, so it adds no edge that ends at its lock. Once
 * it has the lock, that is held as any other, and edges begin there. A try with
 * a deadline counts as a wait. Readers count as writers, as a fair lock makes
 * them wait for a waiting writer; where reads nest, a second read of the same
 * lock waits for nobody. Two locks of two names that pair_guard takes are
 * ordered by address: a cycle of such pairs alone is no finding. Two orders
 * behind one lock that both hold (a gate) are reported. Unlocking in any order
 * is fine. Not found: upgrade() waits for readers, and one of these may wait
 * for a lock that the caller of upgrade() took since. A finding about the order
 * may be a note instead of a panic, each once: on_finding. The edge is then not
 * added to the order, nor is one that is declared harmless. A full table is
 * reported once (klock_os_note). Its entries are still checked; the lines of
 * further edges are not reported.
 *
 * An event is set by set(), release(), a notification or a wake. What counts is
 * a mutex or the like: nobody waits for an event with a spin lock held, but for
 * a condition's own lock, which the wait releases. Nothing is reported of a
 * lock that one setter did not hold, that it took by a try, or that the code
 * held which a setting handler has interrupted; nor of one whose holder has
 * waited for the event before and sets it now (a semaphore used as a lock
 * behind it), or the other way round. So a setter seen without the lock is
 * proof that there is no danger, also one that fills a semaphore at start-up:
 * it has its units from its constructor. A wait counts though the event is set
 * already: the next one may find it unset. So a report may be a false one, as
 * it may by a setter that comes later: harmless(lock, event) says so. A lock
 * that the setter needs before it sets the event, and releases, is not seen. By
 * what runs, a right program is the same: its waiter has seen under that lock
 * that the setter is past it. acquired() and released() of the event's name
 * (order_calls.hpp), where the way to set() begins and ends, tell the two
 * apart: the event is then held on it.
 *                              Checked: unit/sleep: checked: an event
 *
 * Context: any. A class that an NMI handler is the first to try is not learned
 * there. If klock_os_context() cannot tell an NMI, NMI handlers must run with
 * interrupts off. A context switch with a lock held, or in lock(), follows the
 * rules of klock_os_owner_id(), whether an order is learned or not.
 *
 * -- Why no finding is missed or reported twice ---------------------------
 *
 * Ordering: none of its own; the lock of order/rules.hpp orders all.
 *
 * Bits are never cleared, but those of the locks that an event's setters need:
 * a danger may end there, and none begins. A CPU that sees an edge's bit may go
 * on: the edge was searched together with all bits set before. Reading bits
 * needs no order: a stale 0 sends the CPU to the lock, whose acquire shows it
 * every bit that was set before, by the last holder's release. It reads the bit
 * again there, so only one CPU sets it and searches for it. So edges are set
 * one after another. The edge that closes a cycle is set after all others of
 * that cycle, and its search sees them: there is one report, by the CPU that
 * comes last. The marks of both kinds that make an inversion work in the same
 * way. Without the second look, two CPUs might report one cycle; if bits were
 * set without the lock and searched then, a cycle might be missed.
 *                                              Checked: model/lock_order
 * A CPU pushes its lock and is checked before it waits: the report comes before
 * the hang. A lock stays noted until its release is over: a handler that comes
 * between two steps may see too many locks, never too few; see order/held.hpp.
 *                              Checked: unit/lock_order, model/lock_order
 *
 * -- One look -------------------------------------------------------------
 *
 * Each place of a stack has a sum: a set with the classes of all places up to
 * it that make others wait. A wait above a sum costs one look, however many
 * locks are held: if each class of the sum is known to come before the wanted
 * one (strictly_before()), then so is each pair, and its own sum is that one
 * and its class. Otherwise each pair is checked (check_each()), and the sum is
 * made anew. So a sum may have more classes than are held, as a lock below may
 * have been released since: then pairs are checked once more. It never has
 * fewer: a sum is unknown from the push to the end of the first check, and
 * again from before the pop. It becomes unknown, too, if a lock takes a free
 * place below or one there gets another sub-rank. An interrupt handler begins
 * above an unknown sum if it comes in between, and leaves those that it found.
 *                              Checked: unit/lock_order: one look,
 *                              model/lock_order: a handler above a place
 * Bits of strictly_before() are never cleared, so what was known stays known.
 * An edge the other way, which would be a danger, is searched for when it is
 * added. What strictly_before() has not is checked pair by pair each time: two
 * of one name (by address, or a recursion), pairs by address alone, edges that
 * are ignored. So is a lock that is held already, perhaps under another name or
 * sub-rank, one without a name, and one right above a lock that a try took.
 *
 * A sum also says whether interrupts were on as it was made. Then all classes
 * up to it are noted as held with interrupts on, and a wait need only look at
 * its own.
 *
 * Cost: acquiring a known class: about ten stores to cache lines of the owner
 * and one look; no RMW if the owners of all locks are CPUs. Two loads for each
 * lock that is held look for a free place, and for the same lock.
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

/* A declared order of two lock names, or the rank of one. */
struct declared_order {
	static constexpr u32 harmless = ~u32{0};

	const char *first;
	const char *second; /* null: first has a rank */
	u32 rank;	    /* of two names: 0, or `harmless` */
};

/* Declares a name's rank: of two ranked locks, the lower rank comes first. */
template <u32 Rank>
constexpr declared_order rank(const char *name)
{
	static_assert(Rank != 0, "klock::rank: from 1 on");
	return {name, nullptr, Rank};
}

/* Declares that the first lock is taken before the second. */
constexpr declared_order before(const char *first, const char *second)
{
	return {first, second, 0};
}

/*
 * Declares that waiting for the second lock with the first held closes no
 * cycle, as something else excludes it (a reference count, a state).
 */
constexpr declared_order harmless(const char *first, const char *second)
{
	return {first, second, declared_order::harmless};
}

/*
 * The reaction to a finding about the order, which is a danger but no hang yet.
 * note: each goes to klock_os_note() once in a boot, and is not added to the
 * order. Recursion, upgrade and might_wait() always panic.
 */
enum class on_finding : u8 { panic, note };

/* The object that klock_os_lock_order() returns. */
struct order_keeper : lock_order, private order_rules {
	template <u32 Classes, u32 Owners>
	constexpr explicit order_keeper(lock_order_memory<Classes, Owners> &of,
					on_finding then = on_finding::panic)
	    : lock_order{wait,	      attempt, taken, leave, gone,
			 change_mode, pair,    set,   end,   doubt},
	      order_rules(of.learning(), then == on_finding::note),
	      owners{of.held, Owners}, sums(of.sums)
	{
	}
	order_keeper(const order_keeper &) = delete;
	order_keeper &operator=(const order_keeper &) = delete;

	/* -- Called by checked locks -----------------------------------------
	 */

	/* Called before lock(). Returns the argument for the later calls. */
	[[nodiscard]] held_place before_wait(const wanted_lock &want)
	{
		if (want.sleeps) {
			check_sleep(want);
			if (want.looks)
				check_awaited(owners.mine(true), want);
		}
		const held_place mine = push(want, hold::waiting);

		if (!mine.stack)
			return mine;
		if (is_nested_read(*mine.stack, mine.at, want))
			return mine;
		const u8 rank =
			mine.at ? mine.at->sub_rank.load_relaxed() : u8{0};
		const u32 number = class_of(want.label, rank, want.name_hash);

		if (mine.at)
			mine.at->set_class(number);
		if (!add_to_sum(mine, want, number))
			check_each(mine, want, number);
		return mine;
	}

	/*
	 * Called before try_lock(). With interrupts off nothing is learned: the
	 * caller may be an NMI handler, which must not wait for the lock of
	 * order_learning.
	 */
	[[nodiscard]] held_place before_try(const wanted_lock &want)
	{
		const held_place mine = push(want, hold::trying);

		if (mine.stack && current_context() != context::nmi)
			note_open(*mine.stack, want);
		return mine;
	}

	/* The caller has the lock. waited: perhaps not at once. */
	static void taken(held_place mine, bool waited = true)
	{
		if (mine.at)
			mine.at->take(waited);
	}

	/* The caller gave up, or has released the lock, which may be freed by
	 * now. */
	static void gone(held_place mine)
	{
		if (mine.at)
			mine.stack->pop(*mine.at);
	}

	/* Called before unlock(). */
	[[nodiscard]] held_place leaving(const void *lock)
	{
		const held_place mine = owners.place_of(lock);

		if (mine.at)
			mine.at->leave();
		return mine;
	}

	/* The caller, which holds the lock, holds it in another way from here
	 * on: to read, or no longer so. */
	void note_mode(const wanted_lock &now)
	{
		const held_place mine = owners.place_of(now.lock);

		if (mine.at)
			mine.at->mode.store_relaxed(now.mode());
	}

	/* The caller is about to end waits for an event. What a handler has
	 * interrupted holds locks that it does not need. */
	void note_set(const wanted_lock &want)
	{
		const context here = current_context();

		if (here != context::nmi)
			check_set(here == context::thread ? owners.mine(true)
							  : nullptr,
				  want);
	}

	/* The holder of a lock that does not know it itself. mine: if it is the
	 * caller. */
	[[nodiscard]] known_holder holder_apart(const void *lock,
						bool mine) const
	{
		for (u32 i = 0; i < owners.owners; i++) {
			const held_locks &its = owners.all[i];
			const u32 size = its.size();

			if (size == 0 || (mine && !is_me(its.owner())))
				continue;
			for (u32 at = 0; at < size; at++) {
				const held_lock &one = its.at[at];

				if (one.holds(lock))
					return {true, one.label(), one.site(),
						its.owner(),
						one.on_cpu.load_relaxed()};
			}
		}
		return {};
	}

	/* This thread has ended: the inheriting mutexes that it held are free
	 * for others, and leave its stack. They are all noted with its address,
	 * which the kernel may give to another thread later. */
	void ended(const inheriting_thread &thread)
	{
		for (u32 i = 0; i < owners.owners; i++) {
			held_locks &its = owners.all[i];

			if (its.thread.load_relaxed() != &thread)
				continue;
			/* Keeps the stack from other threads until all of its
			 * places were checked. */
			its.claim(false);
			for (u32 at = its.size(); at-- > 0;)
				if (its.at[at].inherits())
					forget(its, its.at[at]);
			its.disclaim();
		}
	}

	/* -- Called by a kernel: order_calls.hpp -----------------------------
	 */

	/* The caller is about to wait for something other than a lock. but: a
	 * lock that is released meanwhile, or null. */
	void might_wait(call_site by, const void *but,
			const char *what = "might_wait() with a lock held")
	{
		const held_locks *const mine = owners.mine();

		for (u32 i = mine ? mine->size() : 0; i-- > 0;) {
			const held_lock &one = mine->at[i];

			if (one.is_there() && !one.sleeps() &&
			    !one.is_of(but) && !(but && one.is_gate()))
				complain_of_held(what, one, by);
		}
	}

	/* The caller acquired a lock that is not klock's and may have slept
	 * for it. */
	void note_acquired(const wanted_lock &want)
	{
		if (current_context() != context::thread)
			return say_order(want, "may sleep, but was taken in an "
					       "interrupt handler");
		taken(before_wait(want));
	}

	/* The caller releases a lock that is not klock's. If a table was full,
	 * it may have been the caller's, but not noted. */
	void note_released(const void *lock, call_site by)
	{
		const held_place mine = leaving(lock);
		held_locks *const others = mine.at ? nullptr : holder_of(lock);

		if (others && !was_said(full_stack | full_owners))
			complain_of_held("released() by a caller that did not "
					 "acquire it",
					 *others->find(lock), by);
		gone(mine);
	}

	/* Called before this memory is freed. */
	void none_held_in(const void *from, usize bytes, call_site by) const
	{
		const usize first = reinterpret_cast<usize>(from);

		for (u32 i = 0; i < owners.owners; i++) {
			const held_locks &stack = owners.all[i];

			for (u32 at = 0; at < stack.size(); at++)
				if (const char *const wrong =
					    use_in(stack.at[at], first, bytes))
					complain_of_held(wrong, stack.at[at],
							 by);
		}
	}

	/* The caller goes on with a lock that another owner took, and which
	 * that owner does not touch any more. */
	void handed_over(const void *lock, call_site by)
	{
		held_locks *const before = holder_of(lock);

		if (!before || before == owners.mine_with(lock))
			return;
		held_lock *const other = before->find(lock);
		const held_place mine = owners.push(other->sleeps());

		if (mine.at)
			mine.at->take_over(*other, by);
		else
			say_once(mine.stack ? full_stack : full_owners);
		before->pop(*other);
	}

	/* The calling thread ends; panics about each lock that it holds. */
	void thread_ends(call_site by) const
	{
		none_held(owners.mine(), by);
		none_held(owners.mine(true), by);
	}

	/* The caller takes the higher lock of this pair next. Returns the pair
	 * that was set before. */
	[[nodiscard]] address_pair next_by_address(const address_pair &next)
	{
		held_locks *const mine = owners.mine(next.sleep);

		if (!mine)
			return {0, 0, next.sleep};
		const address_pair before = {mine->lower.load_relaxed(),
					     mine->higher.load_relaxed(),
					     next.sleep};

		/* A handler that comes in between finds no pair. */
		mine->higher.store_relaxed(0);
		mine->lower.store_relaxed(next.lower);
		mine->higher.store_relaxed(next.higher);
		return before;
	}

	/* Gives a lock that the caller holds another sub-rank. */
	void relabel(const void *lock, u8 sub_rank)
	{
		const held_place mine = owners.place_of(lock);

		if (!mine.at)
			return;
		mine.stack->forget_sums(*mine.at);
		mine.at->forget_class();
		mine.at->sub_rank.store_relaxed(sub_rank);
	}

	/* The caller's stack, or null if it holds nothing. */
	[[nodiscard]] held_locks *mine() const { return owners.mine(); }
	/* A stack that is the caller's until disclaim(). */
	[[nodiscard]] held_locks *claim_mine(bool sleeps) const
	{
		return owners.claim_mine(sleeps);
	}

	/* A mask: a bit for each place of the caller's stack that is in use. */
	[[nodiscard]] u32 places() const
	{
		const held_locks *const mine = owners.mine();
		u32 used = 0;

		for (u32 i = 0; mine && i < mine->size(); i++)
			used |= u32{mine->at[i].is_there()} << i;
		return used;
	}

	/* Called when a handler returns: reports each lock that it still holds.
	 */
	void check_as_before(u32 places_then, call_site by) const
	{
		const u32 more = places() & ~places_then;

		for (u32 i = 0; i < held_locks::most; i++)
			if (more >> i & 1)
				complain_of_held("an interrupt handler returns "
						 "with it held",
						 owners.mine()->at[i], by);
	}

	/* The stacks of all owners: print_held.hpp. */
	[[nodiscard]] held_by_owners everybody() const { return owners; }

	/* Adds each declared order, as if it had been seen. */
	void declare(const declared_order *list, usize size, call_site by)
	{
		for (usize i = 0; i < size; i++)
			if (list[i].second)
				declare_pair(list[i], by);
			else
				declare_rank(list[i], by);
	}

      private:
	/* -- The functions that lock_order points to -- */

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
	static void change_mode(lock_order &of, const wanted_lock &now)
	{
		static_cast<order_keeper &>(of).note_mode(now);
	}
	static address_pair pair(lock_order &of, const address_pair &next)
	{
		return static_cast<order_keeper &>(of).next_by_address(next);
	}

	static void set(lock_order &of, const wanted_lock &event)
	{
		static_cast<order_keeper &>(of).note_set(event);
	}

	static known_holder doubt(lock_order &of, const void *lock, bool mine)
	{
		return static_cast<order_keeper &>(of).holder_apart(lock, mine);
	}

	static void end(lock_order &of, const inheriting_thread &thread)
	{
		static_cast<order_keeper &>(of).ended(thread);
	}

	/* -- One look -- */

	/* The sum of this place; that of the one below lies before it. */
	[[nodiscard]] class_set sum_of(held_place mine) const
	{
		const auto stack = static_cast<usize>(mine.stack - owners.all);
		const auto place = static_cast<usize>(mine.at - mine.stack->at);

		return {sums +
			(stack * held_locks::most + place) * graph.words()};
	}

	/*
	 * Returns false if check_each() may find something new. Otherwise the
	 * place's sum is that of the one below and its own class. The classes
	 * do not tell that the same lock is held, perhaps by another name.
	 */
	[[gnu::always_inline]] bool
	add_to_sum(held_place mine, const wanted_lock &want, u32 number)
	{
		if (!mine.at || number == lock_classes::none ||
		    !mine.stack->is_last(*mine.at) ||
		    mine.stack->has_below(*mine.at, want.lock))
			return false;
		const bool is_first = mine.at == mine.stack->at;
		const known_sum below =
			is_first ? known_sum::of_open
				 : mine.at[-1].known.load_relaxed();
		const bool are_on = irqs_enabled();

		if (below == known_sum::unknown)
			return false;
		if (are_on && (below != known_sum::of_open ||
			       !is_known_open(number, want)))
			return false;
		if (current_context() == context::interrupt &&
		    !handlers.has(number, want.is_nested()))
			return false;
		const class_set known = graph.strictly_before(number);
		const class_set own = sum_of(mine);
		const u32 words = graph.words();

		for (u32 w = 0; w < words; w++) {
			const usize held = is_first ? 0
						    : (own.words + w - words)
							      ->load_relaxed();

			if (held & ~known.words[w].load_relaxed())
				return false;
			own.words[w].store_relaxed(held |
						   class_set::bit(number, w));
		}
		mine.at->known.store_relaxed(are_on ? known_sum::of_open
						    : known_sum::of_classes);
		return true;
	}
	[[nodiscard]] bool is_known_open(u32 number,
					 const wanted_lock &want) const
	{
		return want.looks || open.has(number, want.is_nested());
	}

	/* Checks the wait against each lock that is held, and sums these up. */
	[[gnu::noinline]] void check_each(held_place mine,
					  const wanted_lock &want, u32 number)
	{
		some_classes all;

		if (current_context() == context::interrupt)
			note_handler(number, want);
		note_open(*mine.stack, want);
		const u32 size = mine.stack->size();
		for (u32 i = 0; i < size; i++) {
			const held_lock &one = mine.stack->at[i];

			if (&one != mine.at && one.is_in_the_way())
				all.set(check_pair(one, mine, want, number));
		}
		all.set(number);
		if (mine.at && mine.stack->is_last(*mine.at))
			set_sum(mine, all);
	}

	void set_sum(held_place mine, const some_classes &to)
	{
		const class_set own = sum_of(mine);

		for (u32 w = 0; w < graph.words(); w++)
			own.words[w].store_relaxed(to.words[w]);
		mine.at->known.store_relaxed(irqs_enabled()
						     ? known_sum::of_open
						     : known_sum::of_classes);
	}

	static void forget(held_locks &of, held_lock &one)
	{
		bounded_text<160> text;

		text.add("a thread has ended with ").add(one.label());
		text.add(" (").add_hex(one.address.load_relaxed());
		note(text.add(") held, taken at ").add(one.site()).c_str());
		of.pop(one);
	}

	/* Whether the caller already reads this lock, and reads nest: it waits
	 * for no writer then, so adds no edge from locks taken in between. */
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

	/* Reports a wait that sleeps with a spinning lock held, unless that
	 * pair is declared harmless: the lock was known to be free. */
	void check_sleep_under(const held_lock &held, const wanted_lock &want)
	{
		const u32 from = class_of(held);
		const u32 to = class_of(want.label, 0);

		if (from == lock_classes::none || to == lock_classes::none ||
		    !is_declared_harmless(from, to))
			complain_of_sleep(held, want);
	}

	static void none_held(const held_locks *mine, call_site by)
	{
		for (u32 i = mine ? mine->size() : 0; i-- > 0;)
			if (mine->at[i].is_there())
				complain_of_held("a thread ends with it held",
						 mine->at[i], by);
	}

	/* The stack of the owner that holds it, or null. */
	held_locks *holder_of(const void *lock) const
	{
		for (u32 i = 0; i < owners.owners; i++) {
			held_locks &its = owners.all[i];

			if (its.size() && its.find(lock))
				return &its;
		}
		return nullptr;
	}

	/*
	 * Null, or the use of a lock in this memory. Reads the address again,
	 * as another owner may write it meanwhile.
	 */
	static const char *use_in(const held_lock &one, usize first,
				  usize bytes)
	{
		const usize lock = one.address.load_relaxed();
		const bool held = one.is_held(), awaited = one.is_waiting();

		/* A waker may still note the inner lock of the memory that the
		 * woken thread frees. */
		if (lock <= held_lock::gone || lock - first >= bytes ||
		    one.is_inner() || one.address.load_relaxed() != lock)
			return nullptr;
		return held ? "memory was freed with a lock in it that is held"
		       : awaited ? "memory was freed with a lock in it that a "
				   "thread waits for"
				 : nullptr;
	}

	held_place push(const wanted_lock &want, hold how)
	{
		const held_place mine = owners.push(want.sleeps);

		if (!mine.at) {
			say_once(mine.stack ? full_stack : full_owners);
			return mine;
		}
		if (want.thread)
			mine.stack->thread.store_relaxed(want.thread);
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
	/* the sum of each place of each stack */
	atomic<usize> *sums;
};

/* The kernel's order_keeper, or null. */
inline order_keeper *kernel_order_keeper()
{
	return static_cast<order_keeper *>(kernel_lock_order());
}

/* The order of the whole kernel; its memory is zero bytes until its first
 * use. */
template <u32 Classes, u32 Owners, on_finding Then = on_finding::panic>
lock_order *lock_order_of()
{
	static constinit lock_order_memory<Classes, Owners> memory;
	static constinit order_keeper order(memory, Then);

	return &order;
}

/* lock_order_of() if Checks; else null, and no memory. */
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
