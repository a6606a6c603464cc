/* SPDX-License-Identifier: MIT */
/*
 * axioms - which candidates are executions: of RC11, and of machines
 */
#include "candidate.hpp"

namespace reference {

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

/* What an execution is, in every model. */
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

} // namespace reference
