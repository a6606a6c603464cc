/* SPDX-License-Identifier: MIT */
/*
 * tournament_lock - a tree of two-CPU locks, for any number of CPUs
 *
 * Algorithm:   Each CPU starts at a leaf of a binary tree and takes the
 *              peterson_lock of every node up to the root; the CPU that has the
 *              root holds the lock. It releases them in the same order, the
 *              root last. The tree lies in an array as a heap does: node n's
 *              children are 2n and 2n + 1, and the leaves follow the nodes.
 * Source:      Peterson and Fischer, STOC 1977 (the tree); Peterson, IPL 12(3),
 *              1981 (the node); we differ: any number of CPUs, not only powers
 *              of two: some leaves are then one match nearer to the root. And
 *              the root is released last; in the papers it is released first.
 * Use when:    CPUs have no atomic read-modify-write and there are more than
 *              two, or to teach. First come, first served: bakery_lock. With
 *              read-modify-write: ticket_lock.
 * Size:        3 x (Cpus - 1) bytes. By loads and stores no lock for n CPUs has
 *              fewer than n registers (Burns and Lynch, Information and
 *              Computation 107(2), 1993); this has 3 (n - 1).
 *                                  Checked: unit/every lock: sizes
 * Zero bytes:  free                    Checked: unit/every lock: zero bytes
 * Lifetime:    the next holder may free it: unlock's last access is the one
 *              that releases     Checked: model/lifetime, native/lifetime
 * Fairness:    starvation-free, but not first come, first served: a CPU that
 *              climbs fast bypasses one that climbs slowly
 *                                  Checked: unit/tournament_lock: bypass
 * Capacity:    Cpus, each at most once, under its own number; a number of Cpus
 *              or more is outside the tree
 *                                  Checked: unit/tournament_lock: any Cpus
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard: it has its CPU's number. No recursion.
 *              Everybody waits for a preempted holder, and half of a subtree
 *              for a waiter in it that is preempted.
 * Assumes:     atomic loads and stores of a byte, and a full fence
 *
 * State (nodes held):  () --lock--> (leaf's parent), (.., its parent), ..
 *                (.., root) held --unlock--> from the leaf up, ()
 *
 * Ordering:    none of its own: peterson_lock's, at each node. A node's side is
 *              used by one CPU after another, the holders of the child on that
 *              side. A child is released before its parent, so the next CPU
 *              first waits until the parent's side is free (O6 there).
 *                                  Checked: model/orders_needed
 *
 * Why the root is released last: after the root's release another CPU may hold
 * the lock, and may free it. So the holder must have released the other nodes
 * before. Without the wait for its side, the next CPU from the same subtree
 * would take the root while it is still held, and be thrown out by the unlock
 * that follows. That wait is short: for the rest of one unlock, which waits for
 * nobody.
 *
 * No try_lock: peterson_lock has none.
 *
 * Cost:        uncontended: peterson_lock's, log2(Cpus) times: 3 x log2(Cpus)
 *              stores, 2 x log2(Cpus) full fences, no RMW, up to
 *              log2(Cpus) lines; handoff with w waiters: up to 5 (w + 1)
 *              misses: 21 nodes share a line           Checked: sim/costs
 */
#pragma once

#include <klock/peterson_lock.hpp>

namespace klock {

template <unsigned Cpus>
struct tournament_lock {
	static_assert(Cpus >= 2, "a match needs two");
	static_assert(Cpus <= u32{1} << 30, "leaves are numbered in 32 bits");

	/* CPUs that may hold or wait at once. */
	static constexpr u64 max_contenders = Cpus;

	/* Waits for its turn; on return CPU cpu, the caller, is the holder. */
	void lock(unsigned cpu)
	{
		for (u32 at = leaf_of(cpu); at > root; at = parent_of(at)) {
			peterson_lock &match = node(parent_of(at));

			/* Not at the leaf: one CPU alone uses its side. */
			if (at < Cpus)
				match.await_left(side_of(at));
			match.lock(side_of(at));
		}
	}

	/*
	 * Called by the holder, with the number that it gave to lock(). The
	 * root comes last, as its next holder may free the lock.
	 */
	void unlock(unsigned cpu)
	{
		for (u32 at = leaf_of(cpu); at > root; at = parent_of(at))
			node(parent_of(at)).unlock(side_of(at));
	}

	/* Whether somebody holds the root or is about to: a hint. */
	[[nodiscard]] bool is_locked() const { return nodes[0].is_locked(); }

      private:
	/* Nodes are numbered from 1, as in a heap; leaves follow them. */
	static constexpr u32 root = 1;

	static constexpr u32 leaf_of(unsigned cpu) { return Cpus + cpu; }
	static constexpr u32 parent_of(u32 at) { return at / 2; }
	static constexpr unsigned side_of(u32 at) { return at % 2; }

	peterson_lock &node(u32 number) { return nodes[number - root]; }

	/* the nodes, the root first */
	peterson_lock nodes[Cpus - 1];
};

static_assert(sizeof(tournament_lock<2>) == 3);
static_assert(sizeof(tournament_lock<5>) == 12);

} // namespace klock
