/* SPDX-License-Identifier: MIT */
#include "rc11.hpp"

#include "candidate.hpp"

#include <algorithm>

namespace reference {

namespace {

/* -- All candidates ---------------------------------------------------------
 */

struct enumeration {
	candidate c;
	const litmus &program;
	release_sequence by;
	sc_axiom sc;
	machine on = machine::rc11;
	causality causes = causality::acyclic;
	u64 left;
	outcomes &out;
	std::vector<int> reads;

	enumeration(const litmus &p, release_sequence b, sc_axiom s, u64 limit,
		    outcomes &o)
	    : program(p), by(b), sc(s), left(limit), out(o)
	{
	}

	bool build();
	bool choose_sources(unsigned read);
	bool values();
	bool waits_still(const event &read) const;
	bool choose_orders(unsigned location);
	void count();
};

bool enumeration::build()
{
	for (unsigned l = 0; l < program.locations; l++) {
		event e{type::write, -1, l, order::relaxed};
		e.known = true;
		c.events.push_back(e);
	}
	for (unsigned t = 0; t < program.threads.size(); t++) {
		for (const op &o : program.threads[t]) {
			event e{type::fence, static_cast<int>(t), o.location,
				o.ord};
			const int next = static_cast<int>(c.events.size());
			const bool both = is_rmw(o.what);
			e.by = &o;
			if (o.what != action::fence)
				e.what = o.what == action::store ? type::write
								 : type::read;
			if (e.what == type::read)
				reads.push_back(next);
			if (both)
				e.half = next + 1;
			c.events.push_back(e);
			if (o.what == action::pairs) {
				e.location = static_cast<unsigned>(o.expected);
				e.pair = next;
				reads.push_back(next + 1);
				c.events.push_back(e);
			}
			if (both) {
				e.what = type::write;
				e.half = next;
				c.events.push_back(e);
			}
		}
	}
	return c.events.size() <= most;
}

bool enumeration::choose_sources(unsigned read)
{
	if (read == reads.size())
		return !values() || choose_orders(0);

	event &r = c.events[static_cast<unsigned>(reads[read])];
	for (unsigned w = 0; w < c.events.size(); w++) {
		const event &e = c.events[w];
		if (e.what != type::write || e.location != r.location ||
		    r.half == static_cast<int>(w))
			continue;
		r.from = static_cast<int>(w);
		if (!choose_sources(read + 1))
			return false;
	}
	return true;
}

static u64 written(const op &by, u64 found)
{
	switch (by.what) {
	case action::add:
		return found + by.value;
	case action::subtract:
		return found - by.value;
	case action::bit_or:
		return found | by.value;
	case action::bit_and:
		return found & by.value;
	case action::bit_xor:
		return found ^ by.value;
	default:
		return by.value;
	}
}

/* Whether a wait goes on, having read this. */
bool enumeration::waits_still(const event &read) const
{
	switch (read.by->what) {
	case action::await:
	case action::loads:
		return read.value != read.by->value;
	case action::swaps:
		return read.value != read.by->expected;
	case action::exchanges:
		return read.value != 0;
	case action::pairs:
		return read.pair >= 0 &&
		       read.value !=
			       c.events[static_cast<unsigned>(read.pair)].value;
	default:
		return false;
	}
}

/* All values, from the writes on; false if this cannot be an execution. */
bool enumeration::values()
{
	for (event &e : c.events) {
		e.known = e.thread < 0 || e.what == type::fence;
		e.there = true;
		if (e.by && e.by->what == action::store) {
			e.value = e.by->value;
			e.known = true;
		}
	}
	for (bool again = true; again;) {
		again = false;
		for (event &e : c.events) {
			if (e.known)
				continue;
			const auto source = static_cast<unsigned>(
				e.what == type::read ? e.from : e.half);
			if (!c.events[source].known)
				continue;
			e.value = c.events[source].value;
			e.known = again = true;
			if (e.what == type::read)
				continue;
			if (e.by->what == action::cas)
				e.there = e.value == e.by->expected;
			e.value = written(*e.by, e.value);
		}
	}
	for (const event &e : c.events) {
		if (!e.known)
			return false; /* values out of thin air */
		if (e.what == type::read &&
		    !c.events[static_cast<unsigned>(e.from)].there)
			return false;
		if (e.by && e.what == type::read && waits_still(e))
			return false;
	}
	c.mo.assign(program.locations, {});
	for (unsigned i = 0; i < c.events.size(); i++)
		if (c.events[i].what == type::write && c.events[i].there)
			c.mo[c.events[i].location].push_back(
				static_cast<int>(i));
	return true;
}

bool enumeration::choose_orders(unsigned location)
{
	if (location == program.locations) {
		if (!left--)
			return false;
		/* The halves of a failed compare-and-swap are none. */
		candidate whole = c;
		for (event &e : whole.events)
			if (e.what == type::read && e.half >= 0 &&
			    !whole.events[static_cast<unsigned>(e.half)]
				     .there) {
				e.half = -1;
				e.ord = e.by->failed.value_or(e.ord);
			}
		if (on == machine::rc11 ? whole.consistent(by, sc, causes)
					: whole.has(on))
			count();
		return true;
	}
	auto &order_of = c.mo[location];
	std::sort(order_of.begin() + 1, order_of.end());
	do {
		if (!choose_orders(location + 1))
			return false;
	} while (std::next_permutation(order_of.begin() + 1, order_of.end()));
	return true;
}

void enumeration::count()
{
	std::vector<std::vector<u64>> read(program.threads.size());
	std::vector<u64> last;

	for (const event &e : c.events)
		if (e.what == type::read)
			read[static_cast<unsigned>(e.thread)].push_back(
				e.value);
	for (const auto &order_of : c.mo)
		last.push_back(
			c.events[static_cast<unsigned>(order_of.back())].value);
	out[spell(read, last)]++;
}

} // namespace

bool enumerate(const litmus &p, release_sequence by, u64 limit, outcomes &out,
	       sc_axiom sc, machine on, causality causes)
{
	enumeration e(p, by, sc, limit, out);

	e.on = on;
	e.causes = causes;
	return e.build() && e.choose_sources(0);
}

} // namespace reference
