/* SPDX-License-Identifier: MIT */
/*
 * cost_field - what a lock header's Cost field claims, as numbers
 *
 *	Cost:  uncontended: 1 RMW, 1 store, 2 lines; handoff with w waiters:
 *	       w + 1 to 2 w + 2 misses
 *
 * Before the semicolon, each `<number> <unit>` is a claim. Units: RMW, stores,
 * full fences, of which there are none if nothing is said; loads; lines, which
 * must be said. A number is `no`, digits, or what grows with the CPUs that the
 * lock is built for: `2 x Cpus`, `Cpus / 16` (rounded up), `3 x log2(Cpus)`.
 *
 * Behind it, misses or transfers: a number, `a w + b`, `a (w + b)`, or two of
 * them with `to` in between; `up to` has no lower end. Other words are for
 * people. Of a lock that readers share both are said of a read besides, which
 * writers do not disturb:
 *
 *	; a read: 2 RMW, 1 line; among r readers: r + 1 misses
 */
#pragma once

#include <map>
#include <optional>
#include <string>

namespace sim {

struct range {
	double least, most;

	friend bool operator==(const range &, const range &) = default;
};

/* Claims about one acquisition without waiters, by unit. */
using unit_claims = std::map<std::string, range>;

/* a w + b, w being the number of CPUs that wait. */
struct growth {
	double a, b;

	double at(double w) const { return a * w + b; }
};

struct misses_claim {
	std::optional<growth> least;
	growth most;
	bool transfers; /* else misses */
};

/* Of a read: alone, and among so many readers (w of growth). */
struct read_claim {
	unit_claims alone;
	misses_claim together;
};

struct cost_claim {
	unit_claims alone;
	misses_claim handoff;
	std::optional<read_claim> read; /* where one is made */
	std::string error;		/* not empty: what could not be read */
};

/* The Cost field of the header's text, on one line, less its Checked. */
std::string cost_field(const std::string &header_text);

cost_claim read_cost(const std::string &field, unsigned cpus);

} // namespace sim
