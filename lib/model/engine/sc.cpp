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

#include <klock/types.hpp>

namespace model {

namespace {

using klock::usize;

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

/* No key: greater than any. */
constexpr u16 none = 0xffff;

/* So many keys are compared at once. */
constexpr usize row = 8;

constexpr auto least = [](u16 &to, u16 by) { to = by < to ? by : to; };
constexpr auto most = [](u16 &to, u16 by) { to = by > to ? by : to; };

/*
 * The SC events of one graph and the psc edges between them. One is made for
 * all graphs, which keeps its room.
 */
struct psc {
	bool acyclic(const graph &);

      private:
	void add(ref r);
	void look_around();
	void look_around(unsigned cpu);
	void pass_on(unsigned of);
	template <typename Take>
	void each(u16 *to, const u16 *by, Take take)
	{
		for (usize p = 0; p < room; p += row)
			for (usize i = 0; i < row; i++)
				take(to[p + i], by[p + i]);
	}
	bool edge(unsigned a, unsigned b) const;
	bool between_fences(unsigned a, unsigned b) const;
	bool from_fence(unsigned a, unsigned b) const;
	bool to_fence(unsigned a, unsigned b) const;
	bool between_accesses(ref a, ref b) const;
	bool detour(ref a, ref b) const;
	bool leads_back(unsigned node);

	const event &at(ref r) const { return g->at(r); }

	/* hb, as events */
	bool before(ref a, ref b) const { return !(a == b) && at(b).hb.has(a); }

	/* Of a fence at a place, by the fence's number. */
	usize slot(unsigned fence, unsigned place) const
	{
		return fence * room + place;
	}

	const graph *g = nullptr;
	std::vector<ref> nodes;
	std::vector<unsigned> fence_of; /* fence number of a node */
	std::vector<ref> fences;	/* CPU by CPU, in program order */
	std::vector<u8> seen;		/* their clocks */
	unsigned first_fence[max_cpus + 1] = {};
	unsigned places = 0;
	usize room = 0; /* places, rounded up */

	/* By slot: */
	std::vector<u16> first_after; /* least key that the fence hb */
	std::vector<u16> last_before; /* greatest key that hb the fence */
	std::vector<u16> last_write_before;

	std::vector<u8> colour; /* of the search: 0 new, 1 open, 2 done */
};

void psc::add(ref r)
{
	const event &e = at(r);

	if (is_access(e) && e.place >= places)
		places = e.place + 1u;
	if (e.ord != order::seq_cst)
		return;
	nodes.push_back(r);
	fence_of.push_back(static_cast<unsigned>(fences.size()));
	if (e.what != kind::fence)
		return;
	fences.push_back(r);
	seen.insert(seen.end(), e.hb.at, e.hb.at + max_cpus);
}

/*
 * What one CPU's accesses are to the fences. Both go up in program order, and
 * so do the last fence that is before an access, and the first after it.
 */
void psc::look_around(unsigned cpu)
{
	unsigned after[max_cpus], before[max_cpus];

	for (unsigned of = 0; of < g->cpus; of++)
		after[of] = before[of] = first_fence[of];
	for (unsigned i = 1; i <= g->length(cpu); i++) {
		const event &e = g->sb[cpu][i - 1];

		if (!is_access(e))
			continue;
		const u16 k = static_cast<u16>(key(*g, e));
		for (unsigned of = 0; of < g->cpus; of++) {
			const unsigned end = first_fence[of + 1];
			unsigned &b = before[of], &a = after[of];

			while (b < end && fences[b].index <= e.hb.at[of])
				b++;
			while (a < end && seen[a * max_cpus + cpu] < i)
				a++;
			if (b > first_fence[of])
				least(first_after[slot(b - 1, e.place)], k);
			if (a == end)
				continue;
			most(last_before[slot(a, e.place)], k);
			if (e.what == kind::write)
				most(last_write_before[slot(a, e.place)], k);
		}
	}
}

/* What a later fence is before, and what is before an earlier one. */
void psc::pass_on(unsigned of)
{
	const unsigned first = first_fence[of], end = first_fence[of + 1];

	for (unsigned f = end; f-- > first + 1;)
		each(&first_after[slot(f - 1, 0)], &first_after[slot(f, 0)],
		     least);
	for (unsigned f = first + 1; f < end; f++) {
		each(&last_before[slot(f, 0)], &last_before[slot(f - 1, 0)],
		     most);
		each(&last_write_before[slot(f, 0)],
		     &last_write_before[slot(f - 1, 0)], most);
	}
}

void psc::look_around()
{
	room = (places + row - 1) / row * row;
	first_after.assign(fences.size() * room, none);
	last_before.assign(fences.size() * room, 0);
	last_write_before.assign(fences.size() * room, 0);
	for (unsigned cpu = 0; cpu < g->cpus; cpu++)
		look_around(cpu);
	for (unsigned of = 0; of < g->cpus; of++)
		pass_on(of);
}

/* [F]; (hb | hb; eco; hb); [F] - psc_base between fences is within it. */
bool psc::between_fences(unsigned a, unsigned b) const
{
	if (before(nodes[a], nodes[b]))
		return true;

	const u16 *const after = &first_after[fence_of[a] * room];
	const u16 *const until = &last_before[fence_of[b] * room];
	u16 any = 0;
	for (usize p = 0; p < room; p += row)
		for (usize i = 0; i < row; i++)
			any |= after[p + i] < until[p + i];
	return any;
}

/*
 * [F]; hb?; scb; [E], less what is hb alone: where F hb r, whatever leaves r by
 * mo or fr leaves F too, and what r hb, F hb. No cycle needs the edge.
 */
bool psc::from_fence(unsigned a, unsigned b) const
{
	const event &e = at(nodes[b]);

	return e.what == kind::write &&
	       first_after[slot(fence_of[a], e.place)] < key(*g, e);
}

/* [E]; scb; hb?; [F], less the same, the other way round. */
bool psc::to_fence(unsigned a, unsigned b) const
{
	const event &e = at(nodes[a]);

	return last_write_before[slot(fence_of[b], e.place)] > key(*g, e);
}

/* sb, elsewhere; hb; sb, elsewhere: from and to another location. */
bool psc::detour(ref a, ref b) const
{
	const auto elsewhere = [&](ref r, u16 place) {
		return !is_access(at(r)) || at(r).place != place;
	};
	ref out{a.cpu, static_cast<u8>(a.index + 1)};
	ref in{b.cpu, static_cast<u8>(b.index - 1)};

	while (out.index <= g->length(a.cpu) && !elsewhere(out, at(a).place))
		out.index++;
	while (in.index && !elsewhere(in, at(b).place))
		in.index--;
	return out.index <= g->length(a.cpu) && in.index && before(out, in);
}

/* [E]; scb; [E] */
bool psc::between_accesses(ref a, ref b) const
{
	const event &from = at(a), &to = at(b);

	if (a.cpu == b.cpu)
		return a.index < b.index;
	if (from.place == to.place) {
		if (to.what == kind::write && key(*g, from) < key(*g, to))
			return true;
		if (before(a, b))
			return true;
	}
	return detour(a, b);
}

bool psc::edge(unsigned a, unsigned b) const
{
	const bool a_fence = at(nodes[a]).what == kind::fence;
	const bool b_fence = at(nodes[b]).what == kind::fence;

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

bool psc::acyclic(const graph &of)
{
	g = &of;
	nodes.clear();
	fence_of.clear();
	fences.clear();
	seen.clear();
	places = 0;
	for (unsigned cpu = 0; cpu < g->cpus; cpu++) {
		first_fence[cpu] = static_cast<unsigned>(fences.size());
		for (unsigned i = 1; i <= g->length(cpu); i++)
			add({static_cast<u8>(cpu), static_cast<u8>(i)});
	}
	first_fence[g->cpus] = static_cast<unsigned>(fences.size());
	if (nodes.empty())
		return true;
	look_around();
	colour.assign(nodes.size(), 0);
	for (unsigned n = 0; n < nodes.size(); n++)
		if (!colour[n] && leads_back(n))
			return false;
	return true;
}

} // namespace

bool sc_holds(const graph &g)
{
	static psc one;

	return one.acyclic(g);
}

/* -- One access more ---------------------------------------------------------
 *
 * A cycle leaves the new access a by mo or fr: some fence is before a, and what
 * is above a in modification order is before some fence that leads to the first
 * one. What leads there is sought backwards. A set of fences that do is given
 * by what is before them: one clock.
 */

/* Adds the fences that are before somebody who has seen this much. */
static bool add_fences(const graph &g, const clock &seen, clock &before)
{
	bool any = false;

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = seen.at[c]; i > before.at[c]; i--) {
			const event &e = g.sb[c][i - 1];
			if (e.what != kind::fence || e.ord != order::seq_cst)
				continue;
			before.join(e.hb);
			any = true;
			break;
		}
	}
	return any;
}

/* The highest key at a place of what is seen; a CPU's last is its highest. */
static unsigned highest(const graph &g, unsigned place, const clock &seen)
{
	unsigned most = 0;

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = seen.at[c]; i-- > 0;) {
			const event &e = g.sb[c][i];
			if (e.place != place || !is_access(e))
				continue;
			const unsigned k = key(g, e);
			most = k > most ? k : most;
			break;
		}
	}
	return most;
}

/* Adds the fences that lead by eco to what is before those there are. */
static bool add_leading(const graph &g, clock &before)
{
	bool any = false;

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = before.at[c] + 1u; i <= g.length(c); i++) {
			const event &e = g.sb[c][i - 1];
			if (is_access(e) &&
			    key(g, e) < highest(g, e.place, before))
				any |= add_fences(g, e.hb, before);
		}
	}
	return any;
}

bool sc_holds_with(const graph &g, ref last)
{
	const event &a = g.at(last);
	clock before;

	if (g.any_sc_access)
		return sc_holds(g);
	add_fences(g, a.hb, before);
	do {
		if (highest(g, a.place, before) > key(g, a))
			return false;
	} while (add_leading(g, before));
	return true;
}

} // namespace model
