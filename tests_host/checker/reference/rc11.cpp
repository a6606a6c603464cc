/* SPDX-License-Identifier: MIT */
#include "rc11.hpp"

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
	out[{read, last}]++;
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

/*
 * axioms - which candidates are executions: of RC11, and of machines
 */

static bool rel(order o)
{
	return o == order::release || o == order::acq_rel ||
	       o == order::seq_cst;
}

static bool acq(order o)
{
	return o == order::acquire || o == order::acq_rel ||
	       o == order::seq_cst;
}

/* The relations of an execution, in every model. */
struct basics {
	relation sb, rf, rmw, co, fr;
};

static basics basics_of(const candidate &c)
{
	basics b;

	b.sb = c.pairs([](auto &l, auto &r, int i, int j) {
		return l.thread < 0 ? r.thread >= 0
				    : l.thread == r.thread && i < j;
	});
	b.rf = c.pairs([](auto &, auto &r, int i, int) {
		return r.what == type::read && r.from == i;
	});
	b.rmw = c.pairs([](auto &l, auto &, int, int j) {
		return l.what == type::read && l.half == j;
	});
	for (const auto &order_of : c.mo)
		for (unsigned i = 0; i < order_of.size(); i++)
			for (unsigned j = i + 1; j < order_of.size(); j++)
				b.co.add(static_cast<unsigned>(order_of[i]),
					 static_cast<unsigned>(order_of[j]));
	b.fr = b.rf.inverse() * b.co;
	return b;
}

bool candidate::consistent(release_sequence by, sc_axiom sc,
			   causality causes) const
{
	const auto is = [](type t) {
		return [t](const event &e) { return e.what == t; };
	};
	const relation R = only(is(type::read)), W = only(is(type::write)),
		       F = only(is(type::fence));
	const relation Erel = only([](auto &e) { return rel(e.ord); });
	const relation Eacq = only([](auto &e) { return acq(e.ord); });
	const relation Esc =
		only([](auto &e) { return e.ord == order::seq_cst; });
	const relation Fsc = F & Esc;

	const relation same = pairs([](auto &a, auto &b, int, int) {
		return a.what != type::fence && b.what != type::fence &&
		       a.location == b.location;
	});
	const auto [sb, rf, rmw, co, fr] = basics_of(*this);
	const relation eco = (rf | co | fr).plus();

	const relation heads =
		by == release_sequence::rc11 ? W * (sb & same).maybe() * W : W;
	const relation rs = heads * (rf * rmw).plus().maybe();
	const relation sw =
		Erel * (F * sb).maybe() * rs * rf * R * (sb * F).maybe() * Eacq;
	const relation hb = (sb | sw).plus();

	if (!(hb * eco.maybe()).irreflexive())
		return false;
	if (!(rmw & (fr * co)).empty())
		return false;
	if (causes == causality::acyclic && !(sb | rf).acyclic())
		return false;
	if (sc == sc_axiom::iso) {
		const relation shb =
			(sb | Esc * sw * Esc | sb * hb * sb).plus();
		const relation from = Esc | Fsc * hb.maybe();
		const relation to = Esc | hb.maybe() * Fsc;

		return (Esc * shb * Esc | from * eco * to).acyclic();
	}

	relation sb_elsewhere = sb;
	for (unsigned i = 0; i < most; i++)
		sb_elsewhere.row[i] &= ~same.row[i];
	const relation scb =
		sb | sb_elsewhere * hb * sb_elsewhere | (hb & same) | co | fr;
	const relation psc_base =
		(Esc | Fsc * hb.maybe()) * scb * (Esc | hb.maybe() * Fsc);
	const relation psc_f = Fsc * (hb | hb * eco * hb) * Fsc;

	return (psc_base | psc_f).acyclic();
}

/*
 * On a machine: SC as one order of all operations; x86-TSO as in Alglave,
 * Maranget, Tautschnig, TOPLAS 2014, with what C++ is compiled to: a locked
 * instruction for an RMW and a store of seq_cst, mfence for a fence of it.
 */
bool candidate::has(machine m) const
{
	const auto [sb, rf, rmw, co, fr] = basics_of(*this);

	if (!(rmw & (fr * co)).empty())
		return false;
	if (m == machine::sc)
		return (sb | rf | co | fr).acyclic();

	const relation near = pairs([](auto &a, auto &b, int, int) {
		return a.what != type::fence && b.what != type::fence &&
		       a.location == b.location;
	});
	const relation far = pairs([](auto &a, auto &b, int, int) {
		return a.thread != b.thread;
	});
	const relation in_order = pairs([](auto &a, auto &b, int, int) {
		return a.what != type::fence && b.what != type::fence &&
		       !(a.what == type::write && b.what == type::read);
	});
	const relation locked = only([](auto &e) {
		return e.by &&
		       (is_rmw(e.by->what) ||
			(e.ord == order::seq_cst && e.what != type::read));
	});

	return ((sb & near) | rf | co | fr).acyclic() &&
	       ((sb & in_order) | sb * locked | locked * sb | (rf & far) | co |
		fr)
		       .acyclic();
}

/*
 * text - programs and outcomes, as a failure shows them
 */

std::ostream &operator<<(std::ostream &to, const outcome &o)
{
	for (const auto &of_thread : o.read) {
		for (u64 v : of_thread)
			to << v << ' ';
		to << "| ";
	}
	for (u64 v : o.last)
		to << v << ' ';
	return to;
}

std::string text(const litmus &p)
{
	static const char *const names[] = {
		"load",	 "store", "exchange", "add",	   "subtract",
		"or",	 "and",	  "xor",      "cas",	   "fence",
		"await", "loads", "swaps",    "exchanges", "pairs"};
	std::string s;

	for (const thread &t : p.threads) {
		s += "thread:\n";
		for (const op &o : t) {
			s += std::string("\t") +
			     names[static_cast<int>(o.what)];
			if (o.what != action::fence)
				s += " x" + std::to_string(o.location);
			if (o.what == action::pairs)
				s += " x" + std::to_string(o.expected);
			if (o.what == action::cas || o.what == action::swaps)
				s += " " + std::to_string(o.expected) + " ->";
			if (o.what != action::fence && o.what != action::load)
				s += " " + std::to_string(o.value);
			s += std::string(" ") + model::text(o.ord);
			if (o.failed)
				s += std::string(" or ") +
				     model::text(*o.failed);
			s += "\n";
		}
	}
	return s;
}

} // namespace reference
