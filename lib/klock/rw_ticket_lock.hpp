/* SPDX-License-Identifier: MIT */
/*
 * rw_ticket_lock - readers and writers, served in the order of their arrival
 *
 * Algorithm:   `request` counts the sections that were asked for, `completion`
 *              those that are over. Each counts readers in its upper half and
 *              writers in its lower one. An arrival adds itself to request and
 *              keeps the value before. A writer waits until completion has that
 *              value, a reader until its writers' half has. So readers that
 *              arrive one after the other read together.
 * Source:      Mellor-Crummey and Scott, PPoPP 1991: the fair lock of two
 *              counters; we differ: the writers' half may carry into the
 *              readers', a writer leaves by a store, try_lock and
 *              try_lock_shared are one compare-and-swap over all.
 * Use when:    readers and writers are to be served alike, in strict order:
 *              nobody starves. All readers write one line, so short reads gain
 *              little over ticket_lock. A reader that must not wait for more
 *              than one writer, or whose handlers read too: phase_fair_lock.
 *              Many CPUs read, and hardly any writes: reader_lock.
 * Size:        4 or 8 bytes; no per-CPU state
 *                                      Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it, reader or writer: an unlock's last
 *              access is the one that releases
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the add to request, readers among them; none is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    2^bits contexts that hold or wait at once, readers and writers
 *              together. With one more, a reader may be in with a writer.
 *              Contexts, not CPUs. rw_ticket_lock_for<N> compiles the bound.
 *                                      Checked: unit/rw_ticket_lock: 256
 * Context:     any; where a handler takes it too, either way, readers and
 *              writers by irq_guard and irq_shared_guard: a handler's reader
 *              queues behind a writer that waits for the reader it interrupted.
 *              NMI: try_lock and try_lock_shared only. No recursion, not even
 *              of readers; no upgrade (below). Everybody waits for a preempted
 *              holder, and for a preempted first waiter.
 * Assumes:     an atomic add on each count, an atomic store to one that leaves
 *              the other alone, a compare-and-swap over both
 * Sizes:       try_lock, try_lock_shared: one compare-and-swap decides over
 *              both counts (ABA). On a Zen 3 the next lock() waits for it.
 *
 * State (completion, request):  (n,n) free --lock--> (n,n+1) written
 *              --unlock--> (n+1,n+1);  (n,n) --lock_shared--> (n,n+r) read
 *              --unlock_shared--> (n+r,n+r);  (n,n+1) written --downgrade-->
 *              (n+1-r,n+1) read;  r = 2^bits
 *
 * Ordering:
 *	O1  lock             request.fetch_add_acq_rel     pairs with O1, O3,
 *	    O5, O8
 *	O2  lock             completion.await_eq_acquire   pairs with O6, O7
 *	O3  lock_shared      request.fetch_add_acq_rel     pairs with O1, O3,
 *	    O5, O8
 *	O4  lock_shared      completion.await_acquire      pairs with O6, O9
 *	O5  try_lock         compare_exchange_acq_rel      pairs with O1, O3,
 *	    O6, O7
 *	O6  unlock           completion.store_release      pairs with O2, O4,
 *	    O5, O8
 *	O7  unlock_shared    completion.fetch_add_release  pairs with O2, O5
 *	O8  try_lock_shared  compare_exchange_acq_rel      pairs with O1, O3,
 *	    O6, O9
 *	O9  downgrade        completion.store_release      pairs with O4, O8
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/rw_ticket
 *
 * Why a carry does no harm: a count is one number, 2^bits times the readers'
 * sections plus the writers' sections, modulo 2^(2 bits). With a readers and b
 * writers that hold or wait, request - completion is a 2^bits + b. As long as a
 * + b < 2^bits, this is 0 only if a and b are 0, and its lower half is 0 only
 * if b is. The readers' carry leaves the word at the top and never reaches the
 * lower half. If readers were in the lower half, their carry would look like a
 * writer.
 *
 * Why a writer leaves by a store: nobody else writes completion while it is in.
 * The readers before it are out, and all that arrive after it wait.
 *
 * Why a writer downgrades by a store: the store makes b less by one and a more
 * by one, so a + b stays the same. The readers behind it find that the writers
 * they waited for are done. The writer behind them waits until unlock_shared()
 * adds the reader that the store subtracted from completion.
 *
 * Why there is no upgrade: the counts do not tell the readers that are in from
 * those that wait behind a writer, so an upgrading reader could not know when
 * it is alone. And a writer that arrived before the upgrade waits for that
 * reader.
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              w + 1 to 2 (w + 1) misses: all wait on one line, and each
 *              arrival disturbs them again; a read: 2 RMW, 1 line; among r
 *              readers: 2 to 3 misses, whose line is taken by turns
 *                                      Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

template <counter Counter>
struct rw_ticket_lock {
	static_assert(sizeof(Counter) <= 2,
		      "rw_ticket_lock: u8 or u16, for 65536 contexts at most");

	/* Contexts that may hold or wait at once, either way. */
	static constexpr u64 max_contenders = u64{1} << 8 * sizeof(Counter);
	static constexpr u64 max_readers = max_contenders;
	/* Readers are counted with the writers. */
	static constexpr bool readers_contend = true;

      private:
	/* Readers in the upper half, writers in the lower. */
	using sections = word_of<2 * sizeof(Counter)>;

      public:
	constexpr rw_ticket_lock() = default;

	/*
	 * The lock as it is after `served` writes and as many reads: for tests
	 * of the wrap.
	 */
	constexpr explicit rw_ticket_lock(sections served)
	    : counts(fields<sections, 2>{{both(served), both(served)}})
	{
	}

	/* -- A writer: alone -- */

	/* Waits for its turn; on return the caller is the holder. */
	void lock() { lock_watched(unwatched{}); }

	/*
	 * Takes the lock if nobody holds it or waits; never waits. Writes
	 * nothing if it fails.
	 */
	[[nodiscard]] bool try_lock()
	{
		const sections before = counts.load_relaxed(request);

		if (counts.load_relaxed(completion) != before)
			return false;
		return counts.compare_exchange_acq_rel(
			{{before, before}},
			{{before, successor(before)}}); /* O5 */
	}

	/* Only the holder may call it. A store is enough, as no other section
	 * ends meanwhile. */
	void unlock()
	{
		const sections before = counts.load_relaxed(completion);

		counts.store_release(completion, successor(before)); /* O6 */
	}

	/*
	 * Only the holder may call it. It becomes a reader, together with the
	 * readers next behind it; no writer comes between. It leaves by
	 * unlock_shared(). A guard has its own downgrade().
	 */
	void downgrade()
	{
		const sections before = counts.load_relaxed(completion);

		counts.store_release(
			completion,
			advanced(successor(before),
				 static_cast<sections>(
					 -upper_one<sections>()))); /* O9 */
	}

	/* -- A reader: with others -- */

	/* Waits for its turn; on return the caller is a reader, perhaps one of
	 * several.
	 */
	void lock_shared() { lock_shared_watched(unwatched{}); }

	/*
	 * Takes the lock to read if no writer holds it or waits; never waits.
	 * Writes nothing if it fails.
	 */
	[[nodiscard]] bool try_lock_shared()
	{
		sections over, before, after;

		do {
			before = counts.load_relaxed(request);
			over = counts.load_relaxed(completion);
			if (!same_lower(over, before))
				return false;
			after = advanced(before, upper_one<sections>());
		} while (!counts.compare_exchange_acq_rel(
			{{over, before}}, {{over, after}})); /* O8 */
		return true;
	}

	/* Only a reader may call it. An add, as other readers change
	 * completion, too. */
	void unlock_shared()
	{
		(void)counts.fetch_add_release(completion,
					       upper_one<sections>()); /* O7 */
	}

	/*
	 * Whether somebody holds it, or waits: a hint, stale on arrival.
	 * With exactly max_contenders readers it reads as free.
	 */
	[[nodiscard]] bool is_locked() const
	{
		return counts.load_relaxed(completion) !=
		       counts.load_relaxed(request);
	}

      protected:
	/* lock() and lock_shared(), whose wait `watch` sees: types.hpp. */
	template <typename Watch>
	void lock_watched(Watch watch)
	{
		const sections before = arrive();

		watch(
			[this, before] {
				return counts.load_relaxed(completion) !=
				       before;
			},
			[this, before] { await_turn(before); });
	}
	template <typename Watch>
	void lock_shared_watched(Watch watch)
	{
		const sections before = arrive_shared();

		watch(
			[this, before] {
				return !same_lower(
					counts.load_relaxed(completion),
					before);
			},
			[this, before] { await_writers(before); });
	}

      private:
	static constexpr field<0> completion{};
	static constexpr field<1> request{};

	/*
	 * Adds a writer or a reader to request; returns the value before. O1,
	 * O3, O5 and O8 prevent reading a count of one wrap ago: ticket_lock,
	 * take_ticket().
	 */
	sections arrive()
	{
		return counts.fetch_add_acq_rel(request, 1); /* O1 */
	}
	sections arrive_shared()
	{
		return counts.fetch_add_acq_rel(request,
						upper_one<sections>()); /* O3 */
	}

	void await_turn(sections before) const
	{
		counts.await_eq_acquire(completion, before); /* O2 */
	}
	/*
	 * The completion that O4 reads may have been written by other readers.
	 * They added to the writer's, and continue the release sequence of O6.
	 */
	void await_writers(sections before) const
	{
		counts.await_acquire(completion, [before](sections now) {
			return same_lower(now, before);
		}); /* O4 */
	}

	/* The count of `served` sections of each kind. */
	static constexpr sections both(sections served)
	{
		return advanced(
			static_cast<sections>(served * upper_one<sections>()),
			served);
	}

	/* completion: the sections that are over; request: all that were asked
	 * for */
	atomic_fields<sections, 2> counts;
};

/*
 * The smallest rw_ticket_lock that is safe for so many contexts at once:
 * CPUs x contexts of each that may contend (thread, interrupt, NMI).
 */
template <u64 Contexts>
using rw_ticket_lock_for =
	rw_ticket_lock<decltype(detail::counter_for<Contexts>())>;

} // namespace klock
