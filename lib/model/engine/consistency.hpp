/* SPDX-License-Identifier: MIT */
/*
 * consistency - checks RC11's axioms while a graph grows
 *
 * Source: Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential consistency
 * in C/C++11, PLDI 2017, section 3.
 *
 *	coherence	hb; eco? has no cycle	floor(): what may still be read
 *	atomicity	no write between an RMW's two halves	splits_rmw()
 *	SC		psc has no cycle			sc_holds()
 *	no thin air	sb | rf has no cycle		never built (explore)
 *
 * The last one does not hold with options.load_buffering.
 *
 * An event that is last in its CPU, and a write that is last in modification
 * order, have nothing after them: adding one never breaks an axiom. So only
 * reads of older writes, and writes further down, need a check.
 */
#pragma once

#include "graph.hpp"

namespace model {

/*
 * The lowest write in modification order that an access with this clock can
 * still read; a write of its own must be above it.
 */
unsigned floor(const graph &g, unsigned location, const clock &seen);

/* Whether a write at this position would split an RMW. */
inline bool splits_rmw(const graph &g, unsigned location, unsigned position)
{
	return g.is_exclusive(location, position);
}

/* Whether the write at this position already has an RMW directly above it. */
inline bool has_rival(const graph &g, unsigned location, unsigned position)
{
	return g.is_exclusive(location, position + 1);
}

/* Whether hb; eco? has no cycle, and an RMW's halves are adjacent. */
bool coherent(const graph &);
bool atomic(const graph &);

/*
 * Whether this machine has the execution; the order that an operation has on it
 * whatever was written.
 */
bool machine_has(const graph &g, machine);
order order_on(machine, operation, order written);

/* Whether the partial SC relation has no cycle. */
bool sc_holds(const graph &g);

/*
 * sc_holds() for a graph for which it held without this access; nothing follows
 * the access in happens-before.
 */
bool sc_holds_with(const graph &g, ref last);

/*
 * Whether the axioms hold that an event may break if it is not the newest: all
 * but coherence and atomicity, which floor() and splits_rmw() keep. added: the
 * only new event, an access; none: the whole graph is checked.
 */
inline bool is_consistent(const graph &g, machine m, ref added = {})
{
	if (m != machine::rc11)
		return machine_has(g, m);
	if (!g.any_sc)
		return true;
	return added.index ? sc_holds_with(g, added) : sc_holds(g);
}

} // namespace model
