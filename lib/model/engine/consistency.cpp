/* SPDX-License-Identifier: MIT */
#include "consistency.hpp"

namespace model {

unsigned floor(const graph &g, unsigned location, const clock &seen)
{
	const unsigned newest = g.last(location);
	unsigned lowest = 0;

	if (!newest || seen.contains(g.write_at(location, newest)))
		return newest;
	for (unsigned cpu = 0; cpu < g.cpus; cpu++) {
		/* The latest access in the clock is enough: the earlier ones
		 * are below it. */
		for (unsigned i = seen.at[cpu]; i-- > 0;) {
			const event &e = g.sb[cpu][i];
			if (e.location != location ||
			    (e.what != kind::read && e.what != kind::write))
				continue;
			const unsigned position = g.position(e);
			if (position > lowest)
				lowest = position;
			break;
		}
	}
	return lowest;
}

/*
 * Whether hb; eco? has no cycle, whatever the order in which events were added.
 * A read of a write that happens after it breaks that, too.
 */
bool coherent(const graph &g)
{
	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = 1; i <= g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = g.at(r);
			if (e.what != kind::read && e.what != kind::write)
				continue;

			clock seen = e.hb;
			seen.at[c]--;
			const unsigned lowest = floor(g, e.location, seen);
			if (e.what == kind::write && e.mo <= lowest)
				return false;
			if (e.what == kind::read && g.position(e) < lowest)
				return false;
		}
	}
	return true;
}

/* Whether both halves of each RMW are adjacent in modification order. */
bool atomic(const graph &g)
{
	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 1; i < g.length(c); i++) {
			const event &e = g.sb[c][i];
			if (e.exclusive &&
			    g.position(g.sb[c][i - 1]) + 1 != e.mo)
				return false;
		}
	return true;
}

/*
 * sc - the partial SC relation: psc = psc_base | psc_F (RC11, section 3)
 *
 *	scb	 = sb | sb!=loc; hb; sb!=loc | hb|loc | mo | fr
 *	psc_base = ([Esc] | [Fsc]; hb?); scb; ([Esc] | hb?; [Fsc])
 *	psc_F	 = [Fsc]; (hb | hb; eco; hb); [Fsc]
 *
 * It is computed edge by edge between the SC events, from vector clocks and
 * from the accesses' positions in modification order.
 */

namespace {

using klock::usize;

/*
 * Returns an access's key in the order of its location: 2 x its position for a
 * write, and one above its write for a read. (a, b) in eco iff key(a) < key(b):
 * rf, mo and fr and what follows from them.
 */
unsigned key(const graph &g, const event &e)
{
	return 2 * g.position(e) + (e.what == kind::read);
}

/* No key; it is greater than any. */
constexpr u16 none = 0xffff;

/* The number of keys that are compared at once. */
constexpr usize row = 8;

constexpr auto least = [](u16 &to, u16 by) { to = by < to ? by : to; };
constexpr auto most = [](u16 &to, u16 by) { to = by > to ? by : to; };

/*
 * The SC events of one graph and the psc edges between them. One object serves
 * all graphs, so that its memory is allocated once.
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
	bool before(ref a, ref b) const
	{
		return !(a == b) && at(b).hb.contains(a);
	}

	/* The index of a fence and a location in the vectors below. */
	usize slot(unsigned fence, unsigned location) const
	{
		return fence * room + location;
	}

	const graph *g = nullptr;
	std::vector<ref> nodes;
	std::vector<unsigned> fence_of; /* fence number of a node */
	std::vector<ref> fences;	/* CPU by CPU, in program order */
	std::vector<u8> seen;		/* their clocks */
	unsigned first_fence[max_cpus + 1] = {};
	unsigned locations = 0;
	usize room = 0; /* locations, rounded up */

	/* Indexed by slot(): */
	std::vector<u16> first_after; /* least key that the fence hb */
	std::vector<u16> last_before; /* greatest key that hb the fence */
	std::vector<u16> last_write_before;

	std::vector<u8> colour; /* state of the search: 0 new, 1 open, 2 done */
};

void psc::add(ref r)
{
	const event &e = at(r);

	if (is_access(e) && e.location >= locations)
		locations = e.location + 1u;
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
 * Computes how one CPU's accesses are ordered with the fences. It visits them
 * in program order, so the last fence before an access, and the first one after
 * it, only move up.
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
				least(first_after[slot(b - 1, e.location)], k);
			if (a == end)
				continue;
			most(last_before[slot(a, e.location)], k);
			if (e.what == kind::write)
				most(last_write_before[slot(a, e.location)], k);
		}
	}
}

/*
 * A fence is before all that a later fence is before, and after all that an
 * earlier fence is after.
 */
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
	room = (locations + row - 1) / row * row;
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
	       first_after[slot(fence_of[a], e.location)] < key(*g, e);
}

/* [E]; scb; hb?; [F], less the same, the other way round. */
bool psc::to_fence(unsigned a, unsigned b) const
{
	const event &e = at(nodes[a]);

	return last_write_before[slot(fence_of[b], e.location)] > key(*g, e);
}

/* sb, elsewhere; hb; sb, elsewhere: from and to another location. */
bool psc::detour(ref a, ref b) const
{
	const auto elsewhere = [&](ref r, u16 location) {
		return !is_access(at(r)) || at(r).location != location;
	};
	ref out{a.cpu, static_cast<u8>(a.index + 1)};
	ref in{b.cpu, static_cast<u8>(b.index - 1)};

	while (out.index <= g->length(a.cpu) && !elsewhere(out, at(a).location))
		out.index++;
	while (in.index && !elsewhere(in, at(b).location))
		in.index--;
	return out.index <= g->length(a.cpu) && in.index && before(out, in);
}

/* [E]; scb; [E] */
bool psc::between_accesses(ref a, ref b) const
{
	const event &from = at(a), &to = at(b);

	if (a.cpu == b.cpu)
		return a.index < b.index;
	if (from.location == to.location) {
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
	locations = 0;
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
 * A cycle leaves the new access a by mo or fr. Then some fence is before a, and
 * an access above a in modification order is before some fence that leads to
 * the first fence. The search goes backwards, for the fences that lead there.
 * One clock describes the set of those found: they are the fences before it.
 */

/* Adds the fences that are in this clock. */
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

/* The highest key at a location among the accesses in this clock; a CPU's last
 * access has its highest. */
static unsigned highest(const graph &g, unsigned location, const clock &seen)
{
	unsigned most = 0;

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = seen.at[c]; i-- > 0;) {
			const event &e = g.sb[c][i];
			if (e.location != location || !is_access(e))
				continue;
			const unsigned k = key(g, e);
			most = k > most ? k : most;
			break;
		}
	}
	return most;
}

/* Adds the fences that lead by eco to an event before one of the fences
 * found. */
static bool add_leading(const graph &g, clock &before)
{
	bool any = false;

	for (unsigned c = 0; c < g.cpus; c++) {
		for (unsigned i = before.at[c] + 1u; i <= g.length(c); i++) {
			const event &e = g.sb[c][i - 1];
			if (is_access(e) &&
			    key(g, e) < highest(g, e.location, before))
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
		if (highest(g, a.location, before) > key(g, a))
			return false;
	} while (add_leading(g, before));
	return true;
}

/*
 * machines - executions that a machine has, of those that C++ allows
 *
 * A graph is checked for this, besides RC11. Its operations have the orders
 * that the machine gives to any (order_on()):
 *
 *	sc	po | rf | mo | fr has no cycle (Lamport 1979)
 *	x86	ghb has no cycle: program order but for a read after a write,
 *		unless a locked instruction or mfence is one of them or between;
 *		rf from other CPUs; mo; fr (x86-TSO: Owens, Sarkar, Sewell,
 *		TPHOLs 2009; as axioms: Alglave, Maranget, Tautschnig, TOPLAS
 *		2014). Coherence and atomicity it shares with RC11.
 *
 * Both relations only grow with a graph. An event that is last in its CPU, and
 * reads or writes last in modification order, has nothing after it: so, as with
 * RC11, only branches need a check. Each machine allows no more than RC11 does
 * with the machine's orders, as it runs what C++ is compiled to.
 */

namespace {

/* The events of a graph in a row, and which must come before which. */
struct global_order {
	global_order(const graph &of, machine on) : g(of), m(on)
	{
		unsigned all = 0;

		for (unsigned c = 0; c < g.cpus; c++) {
			first[c] = all;
			all += g.length(c);
		}
		after.resize(all);
		seen.assign(all, unseen);
	}
	bool acyclic();

      private:
	enum : u8 { unseen, open, done };

	unsigned number(ref r) const { return first[r.cpu] + r.index - 1u; }
	void order(ref a, ref b) { after[number(a)].push_back(number(b)); }
	void order_cpu(unsigned cpu);
	void order_location(ref r);
	bool leads_back(unsigned event);

	const graph &g;
	const machine m;
	unsigned first[max_cpus] = {};
	std::vector<std::vector<unsigned>> after;
	std::vector<u8> seen;
};

/* Whether it is a locked instruction or mfence on x86. */
bool is_barrier(const event &e) { return e.ord == order::seq_cst; }

/*
 * Whether it is no instruction on x86: a weaker fence, a choice, and the read
 * half of a store to a part of a word.
 */
bool is_nothing(const event &e)
{
	return !is_barrier(e) && e.what != kind::write &&
	       (e.what != kind::read || e.ord == order::relaxed);
}

void global_order::order_cpu(unsigned cpu)
{
	const auto at = [cpu](unsigned index) {
		return ref{static_cast<u8>(cpu), static_cast<u8>(index)};
	};

	for (unsigned b = 2; b <= g.length(cpu); b++) {
		const event &to = g.at(at(b));
		bool ordered = m == machine::sc || is_barrier(to);

		if (m == machine::x86 && is_nothing(to))
			continue;

		for (unsigned a = b - 1; a >= 1; a--) {
			const event &from = g.at(at(a));
			ordered |= is_barrier(from);
			if (m == machine::x86 && is_nothing(from))
				continue;
			if (ordered || from.what != kind::write ||
			    to.what != kind::read)
				order(at(a), at(b));
		}
	}
}

/* Adds the edges of rf, mo and fr to the next event. */
void global_order::order_location(ref r)
{
	const event &e = g.at(r);
	const bool read = e.what == kind::read;

	if (!read && e.what != kind::write)
		return;
	if (m == machine::x86 && is_nothing(e))
		return;
	if (read && !e.from.initial() &&
	    (m == machine::sc || e.from.cpu != r.cpu))
		order(e.from, r);

	const unsigned next = g.position(e) + 1;
	if (next > g.last(e.location))
		return;
	const ref w = g.write_at(e.location, next);
	const ref own{r.cpu, static_cast<u8>(r.index + 1)};
	if (!(read && w == own && g.at(w).exclusive))
		order(r, w);
}

bool global_order::leads_back(unsigned event)
{
	seen[event] = open;
	for (unsigned to : after[event])
		if (seen[to] == open || (seen[to] == unseen && leads_back(to)))
			return true;
	seen[event] = done;
	return false;
}

bool global_order::acyclic()
{
	for (unsigned c = 0; c < g.cpus; c++) {
		order_cpu(c);
		for (unsigned i = 1; i <= g.length(c); i++)
			order_location(
				{static_cast<u8>(c), static_cast<u8>(i)});
	}
	for (unsigned event = 0; event < after.size(); event++)
		if (seen[event] == unseen && leads_back(event))
			return false;
	return true;
}

} // namespace

bool machine_has(const graph &g, machine m)
{
	return m == machine::rc11 || global_order(g, m).acyclic();
}

order order_on(machine m, operation what, order written)
{
	const bool sc = written == order::seq_cst && m == machine::x86;

	if (m == machine::rc11)
		return written;
	switch (what) {
	case operation::load:
		return order::acquire;
	case operation::store:
		return sc ? written : order::release;
	case operation::rmw:
		return m == machine::x86 ? order::seq_cst : order::acq_rel;
	case operation::fence:
		break;
	}
	return sc || written != order::seq_cst ? written : order::acq_rel;
}

} // namespace model
