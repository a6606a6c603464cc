/* SPDX-License-Identifier: MIT */
/*
 * clh_lock - a queue in which each waiter watches its predecessor's cell
 *
 * Algorithm:   An arriving CPU marks its cell busy and exchanges it into
 *              `tail`. It finds its predecessor's cell there, spins on it until
 *              it is no longer busy, and uses it as its own the next time. The
 *              releasing CPU clears the cell that it marked; its successor
 *              still reads that.
 * Source:      Craig, University of Washington TR 93-02-02, 1993; Magnusson,
 *              Landin and Hagersten, IPPS 1994; we differ: the first cell is
 *              part of the lock.
 * Use when:    many CPUs contend and each has memory for a node that outlives
 *              the lock. Nodes on the stack, or a try_lock: mcs_lock. Few CPUs:
 *              ticket_lock.
 * Size:        2 cache lines, pointer and cell; a node of two lines for each
 *              context                 Checked: unit/every lock: sizes
 * Zero bytes:  not a lock: it must point to its own cell (constinit, or
 *              construct it); an unused node, which may also be copied
 *                                      Checked: unit/clh_lock: zero bytes
 * Lifetime:    the next holder may free it together with all nodes that it was
 *              ever used with, for their cells have moved: unlock's last
 *              access, to lock and node, is the one that releases
 *                                Checked: model/lifetime, native/lifetime
 * Fairness:    FIFO by the exchange; no waiter is bypassed
 *                                      Checked: native/torture: FIFO
 * Capacity:    any number of contexts, each with a node of its own; nothing to
 *              enforce                 Checked: native/torture: exclusion
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard. No recursion. Everybody waits for a preempted
 *              holder, and for any preempted waiter ahead.
 * Assumes:     an atomic exchange of a pointer
 *
 * State (tail):  a clear cell, free --lock--> the CPU's own, busy: held
 *                --unlock--> that cell, clear
 *
 * Ordering:
 *	O1  lock       tail.exchange_acq_rel  pairs with O1 before it, O4
 *	O2  lock       busy.await_eq_acquire  pairs with O3
 *	O3  unlock     busy.store_release     pairs with O2
 *	O4  is_locked  tail.load_acquire      pairs with O1
 *                       Checked: model/orders_needed, native/lifetime: clh
 *
 * No try_lock: the cell in tail may be clear when it is read, and later be in
 * tail again, busy. A compare-and-swap does not see the difference (ABA), and a
 * CPU in the queue cannot leave it.
 *
 * Cost:        uncontended: 1 RMW, 4 stores, 4 lines; handoff with w waiters:
 *              5 misses, whatever w is            Checked: sim/costs
 */
#pragma once

#include <klock/atomic.hpp>
#include <klock/cpu.hpp>
#include <klock/plain.hpp>

namespace klock {

struct clh_lock;
struct clh_node;

/* The flag that the next CPU in the queue watches. Its owner changes. */
struct clh_cell {
	constexpr clh_cell() = default;

      private:
	friend clh_lock;

	/* 1: its user waits or holds */
	atomic<u8> busy;
};

/*
 * One context's handle. It starts with a cell of its own and has another after
 * each acquisition, while its first cell goes round among the lock and the
 * other nodes. So a node must live as long as ANY lock that it was ever used
 * with, and such a lock as long as its nodes: in static storage, one for each
 * CPU and nesting level, not on the stack. Between two acquisitions it may be
 * used with another lock; it serves one at a time.
 *
 * Per-CPU areas may be zeroed, or copied from a template, before its first use;
 * after that it must not be copied or cleared.
 */
struct clh_node {
	constexpr clh_node() = default;

      private:
	friend clh_lock;

	/* The next acquisition's cell. */
	clh_cell &next_cell()
	{
		clh_cell *const from_others = mine.get();

		return from_others != nullptr ? *from_others : first;
	}

	/* On a line of its own: others watch it while this node's owner writes
	 * the other fields. */
	alignas(cache_line) clh_cell first;
	/*
	 * The cell that the next acquisition uses, its predecessor's; null:
	 * the first. Not a pointer to the first, which a copy would share.
	 */
	alignas(cache_line) plain<clh_cell *> mine;
	/* The cell that the present acquisition uses, or the last one did. */
	plain<clh_cell *> queued;
};

struct clh_lock {
	using node = clh_node;
	static constexpr bool node_may_live_on_stack = false;

	/* Contexts that may hold or wait at once. */
	static constexpr u64 max_contenders = ~u64{0};

	constexpr clh_lock() : tail(&first) {}
	clh_lock(const clh_lock &) = delete;
	clh_lock &operator=(const clh_lock &) = delete;

	/*
	 * Waits for its turn; on return the caller is the holder. The node
	 * keeps the predecessor's cell for the next time: its own will still
	 * be read when it is done.
	 *
	 * O1 releases that this cell is busy, and acquires that the
	 * predecessor's is. Otherwise the wait could read the value of that
	 * cell's last use, which is clear.
	 */
	void lock(clh_node &with)
	{
		clh_cell &mine = with.next_cell();

		mine.busy.store_relaxed(1);
		with.queued.set(&mine);
		clh_cell *const predecessor =
			tail.exchange_acq_rel(&mine); /* O1 */
		with.mine.set(predecessor);
		predecessor->busy.await_eq_acquire(0); /* O2 */
	}

	/* Called by the holder, with the node that it gave to lock(). */
	void unlock(clh_node &with)
	{
		with.queued.get()->busy.store_release(0); /* O3 */
	}

	/*
	 * Whether somebody holds it: a hint, stale on arrival. It reads the
	 * cell of any CPU: one more reason why nodes are static. O4
	 * is for a node that its CPU made just before it queued.
	 */
	[[nodiscard]] bool is_locked() const
	{
		return tail.load_acquire()->busy.load_relaxed() != 0; /* O4 */
	}

	/* Whether somebody waits behind the holder, which asks: a hint. */
	[[nodiscard]] bool is_contended(const clh_node &with) const
	{
		return tail.load_relaxed() != with.queued.get();
	}

      private:
	/* The cell of the last to arrive. */
	alignas(cache_line) atomic<clh_cell *> tail;
	/*
	 * The cell that the first CPU finds; it goes round for ever. It has a
	 * line of its own: beside tail, its watcher would lose the line to an
	 * arriving CPU, and wait 2.7 times as long (tests_host/bench).
	 */
	alignas(cache_line) clh_cell first;
};

} // namespace klock
