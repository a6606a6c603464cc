/* SPDX-License-Identifier: MIT */
/*
 * turns - the turns of loops, as parts of a graph
 */
#pragma once

#include "graph.hpp"

namespace model {

/* A turn of a CPU that is in the graph: the events after first, up to last. */
struct turn {
	unsigned cpu;
	u8 first, last;
	bool stays; /* unless it repeats the turn before it */
};

/* Whether a turn only reads, and reads the values of the turn before it. */
bool has_the_values_of_the_turn_before(const graph &, const turn &);

/* Whether a turn reads the same writes as the turn before it. */
bool is_like_the_turn_before(const graph &, const turn &);

/*
 * Makes `result` the graph without the events of a turn. Returns false if the
 * rest is no consistent graph.
 */
bool take_out(const turn &, const graph &from, graph &result);

} // namespace model
