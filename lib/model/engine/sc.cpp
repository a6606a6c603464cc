/* SPDX-License-Identifier: MIT */
/*
 * sc - the partial SC relation: psc = psc_base | psc_F (RC11, section 3)
 *
 *	scb	 = sb | sb!=loc; hb; sb!=loc | hb|loc | mo | fr
 *	psc_base = ([Esc] | [Fsc]; hb?); scb; ([Esc] | hb?; [Fsc])
 *	psc_F	 = [Fsc]; (hb | hb; eco; hb); [Fsc]
 *
 * Asked edge by edge between the SC events, from vector clocks and from where
 * accesses stand in modification order.
 */
#include "consistency.hpp"

namespace model {

namespace {

bool is_access(const event &e)
{
	return e.what == kind::read || e.what == kind::write;
}

/*
 * Where an access stands in its place's order: a write at 2 x its position, a
 * read just above its write. (a, b) in eco iff key(a) < key(b): rf, mo and fr
 * and what follows from them.
 */
unsigned key(const graph &g, const event &e)
{
	return 2 * g.position(e) + (e.what == kind::read);
}

constexpr unsigned none = ~0u;

/* What is around one SC fence at one place. */
struct surroundings {
	unsigned first_after = none; /* least key that the fence hb */
	unsigned last_before = 0;    /* greatest key that hb the fence */
	unsigned last_write_before = 0;
};

/* The SC events of one graph and the psc edges between them. */
struct psc {
	explicit psc(const graph &of) : g(of)
	{
		for (unsigned cpu = 0; cpu < g.cpus; cpu++)
			for (unsigned i = 1; i <= g.length(cpu); i++)
				add({static_cast<u8>(cpu), static_cast<u8>(i)});
	}

	bool acyclic();

      private:
	void add(ref r);
	void look_around();
	bool edge(unsigned a, unsigned b) const;
	bool between_fences(unsigned a, unsigned b) const;
	bool from_fence(unsigned a, unsigned b) const;
	bool to_fence(unsigned a, unsigned b) const;
	bool between_accesses(ref a, ref b) const;
	bool detour(ref a, ref b) const;
	bool leads_back(unsigned node);

	/* hb, as events */
	bool before(ref a, ref b) const
	{
		return !(a == b) && g.at(b).hb.has(a);
	}

	const surroundings &around(unsigned fence, unsigned place) const
	{
		return near[fences_before[fence] * places + place];
	}

	const graph &g;
	std::vector<ref> nodes;
	std::vector<unsigned> fences_before; /* fence number of a node */
	unsigned fences = 0;
	unsigned places = 0;
	std::vector<surroundings> near;
	std::vector<u8> colour; /* of the search: 0 new, 1 open, 2 done */
};

void psc::add(ref r)
{
	const event &e = g.at(r);

	if (is_access(e) && e.place >= places)
		places = e.place + 1u;
	if (e.ord != order::seq_cst)
		return;
	nodes.push_back(r);
	fences_before.push_back(fences);
	fences += e.what == kind::fence;
}

void psc::look_around()
{
	near.assign(fences * places, {});
	for (unsigned cpu = 0; cpu < g.cpus; cpu++) {
		for (unsigned i = 1; i <= g.length(cpu); i++) {
			const ref r{static_cast<u8>(cpu), static_cast<u8>(i)};
			const event &e = g.at(r);

			if (!is_access(e))
				continue;
			const unsigned k = key(g, e);
			for (unsigned n = 0; n < nodes.size(); n++) {
				const event &f = g.at(nodes[n]);
				if (f.what != kind::fence)
					continue;
				surroundings &s =
					near[fences_before[n] * places +
					     e.place];
				if (e.hb.has(nodes[n]) && k < s.first_after)
					s.first_after = k;
				if (!f.hb.has(r))
					continue;
				if (k > s.last_before)
					s.last_before = k;
				if (e.what == kind::write &&
				    k > s.last_write_before)
					s.last_write_before = k;
			}
		}
	}
}

/* [F]; (hb | hb; eco; hb); [F] - psc_base between fences is within it. */
bool psc::between_fences(unsigned a, unsigned b) const
{
	if (before(nodes[a], nodes[b]))
		return true;
	for (unsigned p = 0; p < places; p++)
		if (around(a, p).first_after < around(b, p).last_before)
			return true;
	return false;
}

/*
 * [F]; hb?; scb; [E], less what is hb alone: where F hb r, whatever leaves r by
 * mo or fr leaves F too, and what r hb, F hb. No cycle needs the edge.
 */
bool psc::from_fence(unsigned a, unsigned b) const
{
	const event &e = g.at(nodes[b]);

	return e.what == kind::write &&
	       around(a, e.place).first_after < key(g, e);
}

/* [E]; scb; hb?; [F], less the same, the other way round. */
bool psc::to_fence(unsigned a, unsigned b) const
{
	const event &e = g.at(nodes[a]);

	return around(b, e.place).last_write_before > key(g, e);
}

/* sb, elsewhere; hb; sb, elsewhere: from and to another location. */
bool psc::detour(ref a, ref b) const
{
	const auto elsewhere = [&](ref r, u16 place) {
		return !is_access(g.at(r)) || g.at(r).place != place;
	};
	ref out{a.cpu, static_cast<u8>(a.index + 1)};
	ref in{b.cpu, static_cast<u8>(b.index - 1)};

	while (out.index <= g.length(a.cpu) && !elsewhere(out, g.at(a).place))
		out.index++;
	while (in.index && !elsewhere(in, g.at(b).place))
		in.index--;
	return out.index <= g.length(a.cpu) && in.index && before(out, in);
}

/* [E]; scb; [E] */
bool psc::between_accesses(ref a, ref b) const
{
	const event &from = g.at(a), &to = g.at(b);

	if (a.cpu == b.cpu)
		return a.index < b.index;
	if (from.place == to.place) {
		if (to.what == kind::write && key(g, from) < key(g, to))
			return true;
		if (before(a, b))
			return true;
	}
	return detour(a, b);
}

bool psc::edge(unsigned a, unsigned b) const
{
	const bool a_fence = g.at(nodes[a]).what == kind::fence;
	const bool b_fence = g.at(nodes[b]).what == kind::fence;

	if (a == b)
		return false;
	if (a_fence)
		return b_fence ? between_fences(a, b) : from_fence(a, b);
	return b_fence ? to_fence(a, b) : between_accesses(nodes[a], nodes[b]);
}

bool psc::leads_back(unsigned node)
{
	colour[node] = 1;
	for (unsigned to = 0; to < nodes.size(); to++) {
		if (colour[to] == 2 || !edge(node, to))
			continue;
		if (colour[to] == 1 || leads_back(to))
			return true;
	}
	colour[node] = 2;
	return false;
}

bool psc::acyclic()
{
	if (nodes.size() < 1)
		return true;
	look_around();
	colour.assign(nodes.size(), 0);
	for (unsigned n = 0; n < nodes.size(); n++)
		if (!colour[n] && leads_back(n))
			return false;
	return true;
}

} // namespace

bool sc_holds(const graph &g) { return psc(g).acyclic(); }

} // namespace model
