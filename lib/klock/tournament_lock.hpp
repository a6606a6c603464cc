/* SPDX-License-Identifier: MIT */
/*
 * tournament_lock - a tree of two-CPU locks, for any number of CPUs
 *
 * Algorithm:   Each CPU starts at a leaf of a binary tree and takes the
 *              peterson_lock of every node up to the root; who has the root
 *              holds the lock. The tree lies in an array as a heap does: node
 *              n's children are 2n and 2n + 1, and the leaves follow the nodes.
 * Source:      Peterson and Fischer, STOC 1977 (the tree); Peterson, IPL 12(3),
 *              1981 (the node); we differ: any number of CPUs, not only powers
 *              of two: some leaves are then one match nearer to the root.
 * Use when:    CPUs have no atomic read-modify-write and there are more than
 *              two, or to teach. First come, first served: bakery_lock. With
 *              read-modify-write: ticket_lock.
 * Size:        3 x (Cpus - 1) bytes; zero bytes: free. By loads and stores no
 *              lock for n CPUs has fewer than n registers (Burns and Lynch,
 *              Information and Computation 107(2), 1993); this has 3 (n - 1).
 *                                  Checked: unit/tournament_lock: sizes
 * Fairness:    starvation-free, not first come, first served: a CPU that climbs
 *              fast overtakes one that climbs slowly
 *                                  Checked: unit/tournament_lock: bypass
 * Capacity:    Cpus, each at most once, under its own number; a number of Cpus
 *              or more is outside the tree
 *                                  Checked: unit/tournament_lock: any Cpus
 * Context:     any but NMI, as there is no try_lock; where a handler takes it
 *              too, by irq_guard: it has its CPU's number. No recursion.
 *              Everybody waits for a preempted holder, and half of a subtree
 *              for who waits in it and is preempted.
 * Assumes:     atomic loads and stores of a byte, and a full fence
 *
 * State (nodes held):  () --lock--> (leaf's parent), (.., its parent), ..
 *                (.., root) held --unlock--> from the root down, ()
 *
 * Ordering:    none of its own: peterson_lock's, at each node. A node's side is
 *              used by one CPU after another; the child on that side, held all
 *              the while, hands it over.
 *                                  Checked: model/orders_needed
 *
 * No try_lock: peterson_lock has none.
 *
 * Cost:        uncontended: peterson_lock's, log2(Cpus) times: 3 x log2(Cpus)
 *              stores, 2 x log2(Cpus) full fences, no RMW, up to
 *              log2(Cpus) lines; hand-over with w waiters: up to 3 (w + 1)
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
		for (u32 at = leaf_of(cpu); at > root; at = parent_of(at))
			node(parent_of(at)).lock(side_of(at));
	}

	/*
	 * The holder's alone, under the number that it took the lock with. From
	 * the root down: whoever waits at a node that is given up early climbs
	 * at once, and would take the next one on the side that is still ours.
	 */
	void unlock(unsigned cpu)
	{
		const u32 leaf = leaf_of(cpu);

		for (unsigned up = height_of(leaf); up-- > 0;)
			node(leaf >> (up + 1)).unlock(side_of(leaf >> up));
	}

	/* Whether somebody holds the root or is about to: a hint. */
	[[nodiscard]] bool is_locked() const { return nodes[0].is_locked(); }

      private:
	/* Nodes are numbered from 1, as in a heap; leaves follow them. */
	static constexpr u32 root = 1;

	static constexpr u32 leaf_of(unsigned cpu) { return Cpus + cpu; }
	static constexpr u32 parent_of(u32 at) { return at / 2; }
	static constexpr unsigned side_of(u32 at) { return at % 2; }

	/* Steps from here to the root. */
	static constexpr unsigned height_of(u32 at)
	{
		unsigned steps = 0;

		while (at >> steps > root)
			steps++;
		return steps;
	}

	peterson_lock &node(u32 number) { return nodes[number - root]; }

	/* The matches, the root's first. */
	peterson_lock nodes[Cpus - 1];
};

static_assert(sizeof(tournament_lock<2>) == 3);
static_assert(sizeof(tournament_lock<5>) == 12);

} // namespace klock
