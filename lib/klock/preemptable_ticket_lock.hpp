/* SPDX-License-Identifier: MIT */
/*
 * preemptable_ticket_lock - tickets that pass over a waiter that does not run
 *
 * Algorithm:   A ticket proposes the order of service; one compare-and-swap of
 *              the turn decides which waiter becomes the holder. A waiter waits
 *              for its turn, and while the lock is held. If the lock is free
 *              and not taken, the CPU whose turn it is does not run. The
 *              waiter's patience counts only spin iterations of that kind; when
 *              it is used up, the waiter bypasses that CPU, and moves the turn
 *              past its own ticket. A CPU whose turn has passed is late: it
 *              competes whenever the lock is free, and leaves the turn as it
 *              is. A waiter only guesses whether it is late; once it holds the
 *              lock, it reads the next ticket and corrects the turn. lock() at
 *              a free lock without waiters takes no ticket.
 * Source:      Ouyang and Lange, VEE 2013 (tickets that can be bypassed); we
 *              differ: patience is spent at a free lock only, and so does not
 *              depend on the section's length; a bypass moves the turn, so that
 *              the CPUs passed over delay nobody; an uncontended lock() takes
 *              no ticket.
 * Use when:    threads or vCPUs may be preempted while they wait: under a
 *              hypervisor, an emulator, a scheduler. Everybody always runs:
 *              ticket_lock, whose order has no exception.
 * Size:        2 or 4 bytes; no per-CPU state
 *                          Checked: unit/preemptable_ticket_lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the ticket while all waiters run. A waiter that does not
 *              run when its turn comes is passed over; when it runs again it
 *              competes at once, as with ttas_lock, without a bound on how
 *              often it is bypassed. A waiter overtaken by more than
 *              max_contenders turns cannot be told from a new one: it competes
 *              when its patience ends. Beyond a hundred CPUs a handoff may
 *              outlast patience, as if the next CPU did not run
 *                          Checked: model/preemptable: in turn,
 *                          model/preemptable: late, sim/every lock: in turn,
 *                          unit/preemptable_ticket_lock: in turn
 * Capacity:    2^(bits - 2) contexts at once: half of the turn's range. With
 *              more, the last to arrive may be taken for late: order suffers,
 *              never exclusion
 *                          Checked: model/preemptable: over capacity,
 *                          unit/preemptable_ticket_lock: 64 contend
 * Context:     any; if a handler takes it too, by irq_guard. NMI: try_lock
 *              only. No recursion. All wait for a preempted holder. They wait
 *              for a preempted waiter while patience lasts; try_lock fails
 *              then.
 * Assumes:     an atomic add on the one counter, a compare-and-swap and a store
 *              of the other, which leave the first alone
 *
 * State (next, turn, held):  turn and held are one counter, turn x 2 + held;
 *                            next counts by twos, too
 *	(n,n,0) free --lock--> (n,n,1) held --unlock--> (n,n,0)
 *	(n,t,0) --ticket m, t <= m < n--> (n,m+1,1) --unlock--> (n,m+1,0)
 *	(n,t,0) --any other ticket: late--> (n,t,1) --unlock--> (n,t,0)
 *	(n,?,1) --its holder, where it guessed wrong--> one of the two above
 *
 * Ordering:
 *	O1  try_lock      compare_exchange_acquire  pairs with O3
 *	O2  lock_in_turn  compare_exchange_acquire  pairs with O3
 *	O3  unlock        state.store_release       pairs with O1 and O2
 *      2 to 4 CPUs, in C++'s memory model  Checked: model/orders_needed
 *      any number, sequentially consistent Checked: proofs/preemptable
 *
 *	Tickets and reads are relaxed. Exclusion rests on the one counter that
 *	is swapped, and the swap fails after a stale read.
 *
 * The turn is correct in every free state: it is at most next. So no CPU is
 * late before its ticket was served, and try_lock() succeeds if the lock is
 * free and has no waiters. Proof: let a CPU swap turn t. Every holder before it
 * took its ticket before its own swap, and O2 reads what O3 released. So the
 * read of next after O2 finds at least the ticket that made t: t <= drawn. A
 * ticket from t to drawn is live, and the turn moves past it; any other ticket
 * is late, and the turn stays. Deciding by a read before the swap is unsafe:
 * after as many turns as the counter has values, the state is the same again
 * (ABA). The tickets alone do not tell either: one that was passed by more than
 * half of the range looks early. So the distance is only a hint for waiters,
 * and settle() decides.
 *
 * Every waiter's patience must end: a late waiter whose ticket looks early
 * would wait for ever for a turn that does not come.
 *
 * If nobody waits, lock() and unlock() take at most 15 instructions on x86-64
 * at -O2, without lock_in_turn()              Checked: codegen/facts
 * Linux's queued lock takes 5, as it is 0 whenever it is free. Here a free lock
 * keeps the turn: so lock() first loads the value that it swaps, and unlock()
 * the one that it stores. lock() could swap without a look at state, and save 4
 * instructions. But at a held lock that swap would fail, and every waiter would
 * read the line again: 24.4 misses a handoff instead of 19.0, with 8 CPUs in
 * the simulator.
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              2 (w + 1) to 2 w + 6 misses: all wait on one line, and each
 *              arrival reads before it takes a ticket; more beyond 512 CPUs,
 *              where waiters bypass
 *                                            Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>

namespace klock {

/*
 * Patience: spin iterations at a free lock, for each ticket ahead. More than a
 * handoff takes; 8 to 128 hardly differ.
 */
template <counter Counter, u32 Patience = 32>
struct preemptable_ticket_lock {
	static_assert(sizeof(Counter) <= 2, "u8 or u16");
	static_assert(Patience > 0, "nobody would wait for its turn");
	static_assert(Patience < 1u << 16, "patience must end");

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{1}
					      << (8 * sizeof(Counter) - 2);

	constexpr preemptable_ticket_lock() = default;

	/* Constructs it held: the first operation is one unlock(). */
	constexpr explicit preemptable_ticket_lock(taken_already)
	    : next(0), state(1)
	{
	}
	preemptable_ticket_lock(const preemptable_ticket_lock &) = delete;
	preemptable_ticket_lock &
	operator=(const preemptable_ticket_lock &) = delete;

	/* Waits for its turn, or bypasses; then the caller is the holder. */
	void lock()
	{
		if (!try_lock())
			lock_in_turn();
	}

	/* lock(), and serve() while it waits: concepts.hpp, serving_lock. */
	template <serves Serve>
	void lock(Serve &&serve)
	{
		if (!try_lock())
			lock_in_turn(serve);
	}

	/*
	 * Takes the lock if it is free and has no waiters; never waits. It
	 * takes no ticket, so a failure leaves nothing behind. While the lock
	 * is held, state is odd; next is always even, so the two differ. A CPU
	 * that takes a ticket between the load of next and the swap is
	 * bypassed.
	 */
	[[nodiscard]] bool try_lock()
	{
		Counter now = state.load_relaxed();

		if (next.load_relaxed() != now)
			return false;
		return state.compare_exchange_acquire(now,
						      toggled(now)); /* O1 */
	}

	/* Only the holder calls it, so a store is enough. */
	void unlock()
	{
		const Counter held = state.load_relaxed();

		state.store_release(toggled(held)); /* O3 */
	}

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return state.load_relaxed() & 1;
	}

	/* Whether somebody waits and is not late: a hint, too. */
	[[nodiscard]] bool is_contended() const
	{
		return next.load_relaxed() != turn_in(state.load_relaxed());
	}

      protected:
	/* two times the next ticket to be taken; in state's cache line */
	alignas(2 * sizeof(Counter)) atomic<Counter> next;
	/* two times the ticket whose turn comes next, + 1 while it is held */
	atomic<Counter> state;

	/* The slow path of lock(): takes a ticket and waits. */
	template <typename... Serve>
	[[gnu::noinline]] void lock_in_turn(Serve &...serve)
	{
		const Counter mine = next.fetch_add_relaxed(2);
		Counter now, taken;

		do {
			if constexpr (sizeof...(serve) == 0)
				now = state.await_patient_relaxed(
					[mine](Counter seen) {
						return patience(mine, seen);
					});
			else
				now = await_free(mine, serve...);
			taken = seems_late(mine, now) ? toggled(now)
						      : held_by(mine);
		} while (!state.compare_exchange_acquire(now, taken)); /* O2 */
		settle(mine, now, taken);
	}

	/*
	 * Waits as lock_in_turn() does, and calls serve() while the lock is
	 * held. It does not at a free lock, where patience counts: nobody holds
	 * the lock and waits for an answer then, and a serve() would make
	 * patience longer.
	 */
	template <serves Serve>
	Counter await_free(Counter mine, Serve &serve) const
	{
		Counter now;

		do {
			await_serving([this] { return !is_locked(); }, serve);
			now = state.await_patient_relaxed([mine](Counter seen) {
				return seen & 1 ? 0 : patience(mine, seen);
			});
		} while (now & 1);
		return now;
	}

	static constexpr u32 most_ahead = 64;

	/*
	 * Spin iterations that a waiter with this ticket spends in this state
	 * before it bypasses: endless while the lock is held; none if it is its
	 * turn, or it is late. `held` is checked first, as the caller swaps the
	 * state that ended the wait as a free one. Beyond most_ahead, patience
	 * does not grow: it must end.
	 */
	static constexpr u32 patience(Counter ticket, Counter now)
	{
		const Counter twice = distance(now, ticket);

		if (now & 1)
			return endless;
		if (seems_late(ticket, now))
			return 0;
		return (twice / 2 < most_ahead ? twice / 2 : most_ahead) *
		       Patience;
	}

	/* A free state as held, a held one as free; the turn stays the same. */
	static constexpr Counter toggled(Counter now)
	{
		return static_cast<Counter>(now ^ 1);
	}

	/* Held by this ticket: the turn is the next ticket's. */
	static constexpr Counter held_by(Counter ticket)
	{
		return advanced(ticket, Counter{3});
	}

	/* The ticket whose turn it is, or will be once the lock is free. */
	static constexpr Counter turn_in(Counter now)
	{
		return static_cast<Counter>(now & ~1u);
	}

	/* Whether the turn has passed the ticket by up to half of the range: a
	 * guess. */
	static constexpr bool seems_late(Counter ticket, Counter now)
	{
		const Counter all = distance(Counter{1}, Counter{0});

		return distance(turn_in(now), ticket) > all / 2;
	}

	/*
	 * Corrects the turn, after the holder has swapped `now` for `taken`: it
	 * must be past the holder's ticket if that was live, and unchanged if
	 * it was late. Only the holder writes a state that is held.
	 */
	void settle(Counter mine, Counter now, Counter taken)
	{
		const Counter drawn = next.load_relaxed();
		const bool to_come = distance(now, mine) < distance(now, drawn);
		const Counter right = to_come ? held_by(mine) : toggled(now);

		if (right != taken)
			state.store_relaxed(right);
	}
};

namespace detail {
template <u64 Contexts>
constexpr auto turn_counter_for()
{
	static_assert(Contexts > 0, "a lock needs a contender");
	static_assert(Contexts <= 16384, "over 16,384 contenders");
	if constexpr (Contexts <= 64)
		return u8{};
	else
		return u16{};
}
} // namespace detail

/*
 * The smallest preemptable_ticket_lock with room for so many contexts at once:
 * CPUs x contexts of each that may contend (thread, interrupt, NMI).
 */
template <u64 Contexts>
using preemptable_ticket_lock_for =
	preemptable_ticket_lock<decltype(detail::turn_counter_for<Contexts>())>;

} // namespace klock
