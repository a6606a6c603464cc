/* SPDX-License-Identifier: MIT */
/*
 * seat - what one CPU brings along to take any lock by a guard
 *
 * As klock::selftest::contender, but by guard and irq_guard themselves, which
 * is what users write. Code with interrupts off and the handlers of one CPU can
 * share a seat; an NMI handler needs its own.
 */
#pragma once

#include <klock/concepts.hpp>
#include <klock/guard.hpp>

namespace lab {

template <klock::any_lock L>
struct seat;

template <klock::plain_lock L>
struct seat<L> {
	void renumber(unsigned) {}

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock);
		body();
	}
};

template <klock::node_lock L>
struct seat<L> {
	void renumber(unsigned) {}

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock, node);
		body();
	}

      private:
	typename L::node node;
};

/* The guard brings the node along. */
template <klock::stack_node_lock L>
struct seat<L> {
	void renumber(unsigned) {}

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock);
		body();
	}
};

template <klock::cpu_lock L>
struct seat<L> {
	void renumber(unsigned to) { number = to; }

	template <template <typename> typename Guard, typename Body>
	void hold(L &lock, Body body)
	{
		Guard<L> held(lock, number);
		body();
	}

      private:
	unsigned number = 0;
};

} // namespace lab
