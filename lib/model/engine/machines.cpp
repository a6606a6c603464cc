/* SPDX-License-Identifier: MIT */
/*
 * machines - executions that a machine has, of those that C++ allows
 *
 * What is asked of a graph besides RC11, whose operations then have the orders
 * that the machine gives them anyway (mutate.cpp):
 *
 *	sc	po | rf | mo | fr has no cycle (Lamport 1979)
 *	x86	ghb has no cycle: program order but for a read after a write,
 *		unless a locked instruction or mfence is one of them or between;
 *		rf from other CPUs; mo; fr (x86-TSO: Owens, Sarkar, Sewell,
 *		TPHOLs 2009; as axioms: Alglave, Maranget, Tautschnig, TOPLAS
 *		2014). Coherence and atomicity it shares with RC11.
 *
 * Both relations only grow with a graph, and an event that is last in its CPU,
 * reading or writing last in modification order, has nothing after it: as with
 * RC11, only branches are asked. Each allows no more than RC11 with the orders
 * that it gives, for it is what C++ compiled for it may do.
 */
#include "consistency.hpp"

namespace model {

namespace {

/* The events of a graph in a row, and what must come before what. */
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

/* Of x86: a locked instruction or mfence. */
bool is_barrier(const event &e) { return e.ord == order::seq_cst; }

/*
 * What x86 does not see: a weaker fence, a choice, and the read of a word that
 * a store to a part of it is merged into.
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

/* rf, mo and fr, each to what comes next. */
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
	if (next > g.last(e.place))
		return;
	const ref w = g.write_at(e.place, next);
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
