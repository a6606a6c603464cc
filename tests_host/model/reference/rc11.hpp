/* SPDX-License-Identifier: MIT */
/*
 * rc11 - RC11 once more, by brute force: what the checker is compared with;
 * with C++20's release sequences or the paper's
 *
 * Shares nothing with the checker. Writes every reads-from and every
 * modification order down and asks the axioms as the paper states them (Lahav
 * et al., PLDI 2017, section 3), by matrices over all events. Slow, and made to
 * be read beside the paper.
 */
#pragma once

#include <model/model.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace reference {

using klock::order;
using klock::u64;
using model::machine;
using model::release_sequence;

/*
 * What orders SC operations: RC11's psc, or the single total order of ISO
 * 14882:2020, [atomics.order]/4. That asks the same of fences, and more of
 * accesses: there a coherence order by way of others' weaker accesses counts.
 */
enum class sc_axiom { rc11, iso };

/* Whether program order and reads-from may have a cycle: load buffering. */
enum class causality { acyclic, open };

/*
 * The last are loops of the code's own: loads until the value is there; swaps
 * until one succeeds; exchanges until one finds 0; loads of two locations, the
 * first before the second, until both hold the same.
 */
enum class action {
	load,
	store,
	exchange,
	add,
	subtract,
	bit_or,
	bit_and,
	bit_xor,
	cas,
	fence,
	await,
	loads,
	swaps,
	exchanges,
	pairs,
};

/* Loops of the code's own, of which the last turn counts. */
constexpr bool is_loop(action a)
{
	return a == action::loads || a == action::swaps ||
	       a == action::exchanges || a == action::pairs;
}

constexpr bool is_rmw(action a)
{
	return (a >= action::exchange && a <= action::cas) ||
	       a == action::swaps || a == action::exchanges;
}

struct op {
	action what;
	unsigned location;
	order ord;
	u64 value;    /* stored; the operand; of a wait: waited for */
	u64 expected; /* of a compare-and-swap; of a pair: the other location */
	std::optional<order> failed = {}; /* its read's order if it fails */
};

using thread = std::vector<op>;

struct litmus {
	unsigned locations;
	std::vector<thread> threads;
};

/* What each read read, in program order, and the last values: how often. */
using outcomes = std::map<std::string, unsigned>;

/* How an outcome is spelt: both sides of the comparison use this. */
std::string spell(const std::vector<std::vector<u64>> &read,
		  const std::vector<u64> &last);

/*
 * All consistent executions in which every wait ends. Gives up, and returns
 * false, at more than limit candidates.
 */
bool enumerate(const litmus &, release_sequence, u64 limit, outcomes &,
	       sc_axiom = sc_axiom::rc11, machine = machine::rc11,
	       causality = causality::acyclic);

/* For a failure's message. */
std::string text(const litmus &);

} // namespace reference
