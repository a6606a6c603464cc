/* SPDX-License-Identifier: MIT */
/*
 * mortal - an object with its lock inside, and an end
 *
 * As reference-counted objects are used: each contender takes the lock, gives
 * up its reference, releases the lock; whoever gave up the last one ends the
 * object, lock and all, as soon as its own unlock() has returned. Nothing tells
 * it whether the holders before it have returned from theirs. So a lock is
 * right here only if an unlock's last access is the one that releases. Model
 * checker, AddressSanitizer and ThreadSanitizer find any other access.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/plain.hpp>
#include <klock/selftest/locks.hpp>

namespace klock::selftest {

/* Nodes that cannot live on the stack end with the lock; others before it. */
template <any_lock L>
inline constexpr bool nodes_die_with_lock = node_lock<L> && !stack_node_lock<L>;

template <any_lock L, unsigned Cpus, bool = nodes_die_with_lock<L>>
struct nodes_inside {};

template <any_lock L, unsigned Cpus>
struct nodes_inside<L, Cpus, true> {
	contender<L> who[Cpus];
};

template <any_lock L, unsigned Cpus>
struct mortal {
	/* n: the number of references, one for each put(). */
	explicit mortal(unsigned n) : references(n) {}

	/* CPU cpu's section. True: that was the last, the caller ends *this. */
	[[nodiscard]] bool put(unsigned cpu)
	{
		if constexpr (nodes_die_with_lock<L>) {
			return put_by(nodes.who[cpu]);
		} else {
			contender<L> mine(cpu);
			return put_by(mine);
		}
	}

	L lock;
	plain<unsigned> references;
	nodes_inside<L, Cpus> nodes;

      private:
	bool put_by(contender<L> &with)
	{
		with.lock(lock);
		const unsigned left = references.get() - 1;
		references.set(left);
		with.unlock(lock);
		return left == 0;
	}
};

} // namespace klock::selftest
