/* SPDX-License-Identifier: MIT */
/*
 * queued_lock - a queue of per-CPU nodes, in a lock of 4 bytes
 *
 * Algorithm:   Two fields, `locked` and `tail`. A CPU that finds nobody in tail
 *              sets locked by one compare-and-swap. Any other exchanges the
 *              number of a node of its own into tail, links itself to the node
 *              that it finds there, and spins on its own until it is first.
 *              Only the first waits on locked, by exchanging a 1 into it; then
 *              it empties the queue, or makes its successor the first. From
 *              then on nobody looks at its node, which is free while the lock
 *              is still held.
 * Source:      the queue: Mellor-Crummey and Scott, ACM TOCS 9(1), 1991,
 *              section 2.4. The first waits by an exchange, which leaves it the
 *              line to write on: it is alone at a test-and-set lock (Anderson,
 *              IEEE TPDS 1(1), 1990, section III.A). That nodes belong to CPUs
 *              and nesting levels, so that 16 bits name one, is the idea of
 *              Linux's qspinlock (described in LWN 590243, 2014); we differ: no
 *              pending bit; two fields of 16 bits, and each operation is on one
 *              of them alone; a node is cleaned after its use, not before the
 *              next.
 * Use when:    many CPUs contend, and a lock must be as small as a ticket lock:
 *              one in each inode, page or hash bucket. Few CPUs: ticket_lock,
 *              which hands over with fewer misses up to about 5 of them. Nodes
 *              of the caller's own instead of a per-CPU table: mcs_lock. vCPUs
 *              or threads that are preempted: preemptable_ticket_lock.
 * Size:        4 bytes; and once for all locks of one type a cache line for
 *              each CPU: 64 x Cpus bytes     Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's only access is the one
 *              that releases. The nodes live as long as the program.
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the doorway: a look at tail, and if somebody queues, the
 *              exchange. A CPU that has looked and not yet swapped may pass
 *              those that queue meanwhile: each CPU passes a waiter at most
 *              once. With Patience, a CPU queues after so many iterations.
 *                          Checked: native/torture: FIFO,
 *                          model/fairness: a look at the queue
 * Capacity:    Cpus (up to 16,383). A CPU may wait levels (4) times at once:
 *              in a thread, a soft interrupt, an interrupt and an NMI, each for
 *              another lock. A fifth wait, or a CPU whose number is too large,
 *              has no queue position: exclusion holds, but anybody may
 *              bypass it. checked_lock reports both.
 *                          Checked: model/queued_lock: without a node,
 *                          unit/queued_lock: a fifth wait
 * Context:     any, but a waiter must not be preempted or moved to another
 *              CPU: another thread would then wait with its node. Where a
 *              handler takes it too, by irq_guard. NMI: try_lock only. No
 *              recursion. Everybody waits for a preempted holder, and for any
 *              preempted waiter ahead. unlock waits for nobody. The first in
 *              the queue waits for a newcomer that has exchanged tail and not
 *              yet linked its node. lock() calls klock_os_cpu_id() only when
 *              it must wait; it must return the same number in all handlers of
 *              a CPU. All files of a kernel share one table of nodes. A module
 *              that is linked apart must not have its own (hidden visibility,
 *              static linking): with two tables a lock excludes nobody.
 *                          Checked: model/unlock: waits for nobody,
 *                          model/queued_lock: interrupts
 * Assumes:     a compare-and-swap, an exchange and a store of 2 bytes, which
 *              leave those beside them alone
 *
 * State (locked, tail):  n, t: a node's number
 *	(0,0) free --lock--> (1,0) held --unlock--> (0,0)
 *	(1,t) --n queues--> (1,n) --unlock--> (0,n) --the first--> (1,n)
 *	(1,n) --n, first and last--> (1,0)
 *	(0,n) --a CPU that looked before n queued--> (1,n)
 *
 * Ordering:
 *	O1  take_free   compare_exchange_acquire       pairs with O6
 *	O2  wait_first  tail.exchange_acq_rel          pairs with O2, O7
 *	O3  wait_first  next.store_release             pairs with O5
 *	O4  take_first  locked.await_exchange_acquire  pairs with O6
 *	O5  take_first  next.await_ne_acquire          pairs with O3
 *	O6  unlock      locked.store_release           pairs with O1, O4
 *	O7  queue_up    depth.store_release            pairs with O2
 *                                      Checked: model/orders_needed
 *
 * Cost:        uncontended: 1 RMW, 1 store, 1 line; handoff with w waiters:
 *              10 to 11 misses, whatever w is
 *                          Checked: sim/costs, sim/queued_lock
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/os.hpp>
#include <klock/types.hpp>

namespace klock {

template <unsigned Cpus, u32 Patience>
struct queued_lock;

/*
 * The nodes with which a CPU queues for all locks of a type. The nodes of four
 * levels share a cache line: a CPU spins on one of them at a time.
 */
struct alignas(cache_line) queued_cpu {
	/* Waits of one CPU at once, each interrupted by the next. */
	static constexpr unsigned levels = 4;

	constexpr queued_cpu() = default;

      private:
	template <unsigned Cpus, u32 Patience>
	friend struct queued_lock;

	struct node {
		constexpr node() = default;

		/* The successor's number; 0 until the successor has linked
		 * itself. */
		atomic<u16> next;
		/* 1: only the holder is ahead. A node is clean if both are
		 * 0. */
		atomic<u8> first;
	};

	node nodes[levels];
	/* Waits that have begun and are not over; only this CPU accesses it. */
	atomic<u8> depth;
};

/*
 * Cpus: the CPUs' numbers are below it. Patience: if nobody queues, a CPU waits
 * for the release for so many spin iterations before it queues. It is passed
 * meanwhile. With 8, two CPUs are 1.2 times as fast. Three to 32 are 0.8 to 1
 * times as fast, and their longest wait is 1.6 times as long: so it is 0.
 *			Checked: sim/queued_lock: patience,
 *			model/fairness: a look at the queue
 */
template <unsigned Cpus, u32 Patience = 0>
struct queued_lock {
	static_assert(Cpus > 0, "a lock needs a contender");
	static_assert(Patience < endless, "a CPU would never queue");
	static_assert(Cpus * u64{queued_cpu::levels} < 1u << 16,
		      "more than 16,383 CPUs: a tail of 16 bits cannot name "
		      "their nodes");

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = u64{Cpus} * queued_cpu::levels;

	constexpr queued_lock() = default;
	queued_lock(const queued_lock &) = delete;
	queued_lock &operator=(const queued_lock &) = delete;

	/* Waits for its turn; on return the caller is the holder. */
	void lock()
	{
		if (!take_free())
			queue_up(cpu_id());
	}

	/* lock() for a caller that knows the number of its CPU. */
	void lock_from(unsigned cpu)
	{
		if (!take_free())
			queue_up(cpu);
	}

	/* Takes the lock if it is free and nobody queues; never waits. */
	[[nodiscard]] bool try_lock()
	{
		return locked.load_relaxed() == 0 && take_free();
	}

	/* Only the holder may call it, on any CPU. */
	void unlock() { locked.store_release(0); } /* O6 */

	/* Whether somebody holds it: a hint, stale on arrival. */
	[[nodiscard]] bool is_locked() const
	{
		return locked.load_relaxed() != 0;
	}

	/* Whether somebody queues: a hint, for the holder. */
	[[nodiscard]] bool is_contended() const
	{
		return tail.load_relaxed() != 0;
	}

	/* Whether a wait that this CPU began now would have a node. */
	[[nodiscard]] static bool has_node(unsigned cpu)
	{
		return cpu < Cpus &&
		       cpus[cpu].depth.load_relaxed() < queued_cpu::levels;
	}

	/* Whether this CPU waits for nothing, and all its nodes are clean. */
	[[nodiscard]] static bool is_clean(unsigned cpu)
	{
		for (const node &of : cpus[cpu].nodes)
			if (of.next.load_relaxed() || of.first.load_relaxed())
				return false;
		return cpus[cpu].depth.load_relaxed() == 0;
	}

	/*
	 * Cleans the nodes of a CPU that was stopped in a wait and starts anew.
	 * The locks that it queued for must not be used any more.
	 */
	static void forget_waits(unsigned cpu)
	{
		for (node &of : cpus[cpu].nodes) {
			of.next.store_relaxed(0);
			of.first.store_relaxed(0);
		}
		cpus[cpu].depth.store_relaxed(0);
	}

      private:
	using node = queued_cpu::node;

	static node &node_of(u16 number)
	{
		const unsigned index = number - 1u;

		return cpus[index / queued_cpu::levels]
			.nodes[index % queued_cpu::levels];
	}

	/* The load of tail is relaxed: `locked` alone excludes, by O1 and O4 */
	bool take_free()
	{
		u16 found = 0;

		return tail.load_relaxed() == 0 &&
		       locked.compare_exchange_acquire(found, 1); /* O1 */
	}

	/*
	 * `depth` counts the waits of this CPU, and so chooses the node of the
	 * next one. It is raised before the node can be seen (O2), and lowered
	 * when the node is clean again (O7): a handler that came in between
	 * would take the same node. No other CPU reads `depth`, so O7 orders
	 * the compiler alone.
	 */
	[[gnu::noinline]] void queue_up(unsigned cpu)
	{
		if (took_in_time())
			return;
		if (!has_node(cpu))
			return compete();

		atomic<u8> &depth = cpus[cpu].depth;
		const u8 level = depth.load_relaxed();
		const u16 mine =
			static_cast<u16>(cpu * queued_cpu::levels + level + 1);

		depth.store_relaxed(static_cast<u8>(level + 1));
		wait_first(mine);
		take_first(mine);
		depth.store_release(level); /* O7 */
	}

	/* Waits for the release, and takes the lock if still nobody queues. */
	bool took_in_time()
	{
		if (Patience == 0 || is_contended())
			return false;
		(void)locked.await_patient_relaxed(
			[](u16 found) { return found == 0 ? 0 : Patience; });
		return try_lock();
	}

	/*
	 * Queues, and waits until only the holder is ahead.
	 *
	 * O2 and O3 release that this CPU's node is clean. The CPU behind
	 * writes to it after its own O2, and the one ahead after its O5, even
	 * though the node was last used for another lock.
	 */
	void wait_first(u16 mine)
	{
		const u16 ahead = tail.exchange_acq_rel(mine); /* O2 */

		if (ahead == 0)
			return;
		node_of(ahead).next.store_release(mine); /* O3 */
		node_of(mine).first.await_eq_relaxed(1);
	}

	/* Takes the lock, makes its successor the first, and cleans the
	 * node. */
	void take_first(u16 number)
	{
		node &mine = node_of(number);
		u16 last = number;

		locked.await_exchange_acquire(
			1, [](u16 found) { return found == 0; }); /* O4 */
		if (!tail.compare_exchange_relaxed(last, 0)) {
			const u16 next = mine.next.await_ne_acquire(0); /* O5 */
			node_of(next).first.store_relaxed(1);
			mine.next.store_relaxed(0);
		}
		mine.first.store_relaxed(0);
	}

	/*
	 * Waits without a node: takes the lock when it is free and nobody
	 * queues.
	 */
	void compete()
	{
		do {
			locked.await_eq_relaxed(0);
			tail.await_eq_relaxed(0);
		} while (!try_lock());
	}

	/* The nodes of all CPUs, for all locks of this type. */
	static inline constinit queued_cpu cpus[Cpus];

	/* Whether it is held. Each field is accessed in its own size. */
	alignas(2 * sizeof(u16)) atomic<u16> locked;
	/* The last in the queue; 0: nobody queues. */
	atomic<u16> tail;
};

} // namespace klock
