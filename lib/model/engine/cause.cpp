/* SPDX-License-Identifier: MIT */
/*
 * cause - the orders whose absence makes an execution fail
 *
 * A repair is a stronger order of an operation, or one more fence. It removes
 * the failing execution if the graph with the repair breaks an axiom of C++,
 * or, for a race, orders the two accesses. The search finds a smallest set of
 * repairs that remove the execution; an operation is a line of the code, so it
 * is repaired in all CPUs alike. Then the program is explored again with the
 * repairs. If no execution fails, they are the cause. If one does, repairs that
 * remove it are added.
 *
 * With all orders that SC gives, the graph also shows whether SC has the
 * execution, and likewise x86. An execution that SC has, too, is no matter of
 * orders.
 */
#include "cause.hpp"
#include "consistency.hpp"
#include "uses.hpp"

#include <algorithm>

namespace model {

namespace {

using repairs_of = std::vector<repair>;

order both(order a, order b)
{
	if (a == order::seq_cst || b == order::seq_cst)
		return order::seq_cst;
	const bool acquire = acquires(a) || acquires(b);
	const bool release = releases(a) || releases(b);

	if (acquire && release)
		return order::acq_rel;
	return acquire	 ? order::acquire
	       : release ? order::release
			 : order::relaxed;
}

/* The access before an event of the same CPU that belongs to another
 * operation. */
ref access_before(const graph &g, ref r)
{
	for (ref a = r; --a.index;)
		if (is_access(g.at(a)))
			return a;
	return {};
}

/* Whether an operation begins at this event: it is no second half. */
bool begins(const graph &g, ref r)
{
	const event &e = g.at(r);

	return is_access(e) && !(e.what == kind::write && e.exclusive);
}

/* Whether one of these repairs is a fence before this event. */
bool is_fenced(const graph &g, ref r, const repairs_of &some)
{
	const ref a = begins(g, r) ? access_before(g, r) : ref{};

	for (const repair &one : some)
		if (a.index && one.after && one.after == g.at(a).op &&
		    one.op == g.at(r).op)
			return true;
	return false;
}

event full_fence()
{
	event fence;

	fence.what = kind::fence;
	fence.ord = order::seq_cst;
	return fence;
}

} // namespace

void repair_list::start_run()
{
	for (u16 &op : last_op)
		op = 0;
}

order repair_list::order_of(u16 op, order o) const
{
	for (const repair &r : all)
		if (!r.after && r.op == op)
			o = both(o, r.by);
	return o;
}

unsigned repair_list::fences_before(unsigned cpu, u16 op)
{
	const u16 last = std::exchange(last_op[cpu], op);
	unsigned many = 0;

	for (const repair &r : all)
		many += r.after && r.after == last && r.op == op;
	return many;
}

/* -- The graph --------------------------------------------------------------
 */

/*
 * The execution with these repairs, on that machine; null: it is too long.
 * there gets the index that each event has in it.
 */
static std::unique_ptr<graph> with(const graph &f, const repairs_of &some,
				   machine m,
				   std::vector<u8> (&there)[max_cpus],
				   const operation_table &operations)
{
	auto x = std::make_unique<graph>();
	const auto order_of = [&](ref r) {
		const event &e = f.at(r);
		const u16 op = operation_of(operations, f, r);
		order o = e.ord;
		if (!op)
			return o;
		/* The read half of a store to a part of a word orders
		 * nothing. */
		const operation does = operations[op].what;
		if (does == operation::store && e.what == kind::read)
			return o;
		for (const repair &one : some)
			if (!one.after && one.op == op)
				o = both(o, one.by);
		return order_on(m, does, o);
	};
	unsigned locations = 0;

	x->reset(f.cpus, f.sequence);
	for (unsigned c = 0; c < f.cpus; c++) {
		/* A fence comes directly after the access before it. */
		std::vector<bool> behind(f.length(c) + 1);
		for (unsigned i = 1; i <= f.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			if (is_fenced(f, r, some))
				behind[access_before(f, r).index] = true;
		}
		there[c].assign(1, 0);
		for (unsigned i = 1; i <= f.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			event e = f.at(r);
			e.ord = order_of(r);
			e.mo = 0;
			x->sb[c].push_back(e);
			there[c].push_back(static_cast<u8>(x->length(c)));
			if (is_access(e))
				locations =
					std::max(locations, e.location + 1u);
			if (behind[i])
				x->sb[c].push_back(full_fence());
		}
		if (x->length(c) > max_index)
			return nullptr;
	}
	for (unsigned c = 0; c < f.cpus; c++)
		for (event &e : x->sb[c]) {
			e.from.index = there[e.from.cpu][e.from.index];
			x->any_sc |= e.ord == order::seq_cst;
		}
	x->any_sc_access = x->any_sc;
	for (unsigned p = 0; p < locations; p++)
		for (unsigned i = 1; i <= f.last(p); i++) {
			ref w = f.write_at(p, i);
			w.index = there[w.cpu][w.index];
			x->insert(w, i);
		}
	return x;
}

/* Whether it is still an execution, and fails. */
bool cause_finder::fails(const shown_fault &f, const repairs_of &some,
			 machine m) const
{
	std::vector<u8> there[max_cpus];
	const auto x = with(*f.of, some, m, there, operations);

	if (!x || !x->settle() || !coherent(*x) || !atomic(*x))
		return false;
	if (m != machine::rc11 ? !machine_has(*x, m)
			       : x->any_sc && !sc_holds(*x))
		return false;
	if (f.first.found == bug::none)
		return true;

	/* The first access lies between the event before it and those of its
	 * epoch. */
	const unsigned a = f.first.cpu, b = f.cpu;
	const unsigned before = there[a][f.first.epoch - 1u];
	const unsigned came = there[b][f.ran];
	const bool first_goes_before =
		came && x->sb[b][came - 1].hb.at[a] > before;
	const bool last_goes_before =
		before && x->sb[a][before - 1].hb.at[b] > came;

	return !last_goes_before && (f.first.is_over || !first_goes_before);
}

/*
 * Adds a fence between each two accesses that could need one; only_stores:
 * between a store and a load.
 */
static void add_fences(const graph &g, bool only_stores, repairs_of &to)
{
	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 2; i <= g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const ref a =
				begins(g, r) ? access_before(g, r) : ref{};
			if (!a.index || !g.at(a).op || !g.at(r).op ||
			    g.at(a).location == g.at(r).location)
				continue;
			if (only_stores && (g.at(a).what != kind::write ||
					    g.at(r).what != kind::read))
				continue;
			const repair one{g.at(r).op, g.at(a).op};
			const auto same = [&](const repair &other) {
				return other.op == one.op &&
				       other.after == one.after;
			};
			if (std::none_of(to.begin(), to.end(), same))
				to.push_back(one);
		}
}

void cause_finder::add_orders(const graph &g, repairs_of &to) const
{
	const auto add = [&](u16 op, order by) {
		for (const repair &r : to)
			if (r.op == op && r.by == by && !r.after)
				return;
		to.push_back({op, 0, by});
	};

	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 1; i <= g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = g.at(r);
			const u16 op = operation_of(operations, g, r);
			if (!op || operations[op].is_plain)
				continue;
			const operation does = operations[op].what;
			if (does != operation::load && !releases(e.ord))
				add(op, order::release);
			if (does != operation::store && !acquires(e.ord))
				add(op, order::acquire);
		}
}

/* Returns a smallest set of these repairs that removes the execution; empty:
 * all of them together do not. */
repairs_of cause_finder::least(const shown_fault &f, const repairs_of &had,
			       repairs_of some) const
{
	const auto goes = [&](const repairs_of &one) {
		repairs_of all = had;
		all.insert(all.end(), one.begin(), one.end());
		return !fails(f, all, task.given->machine);
	};

	if (!goes(some))
		return {};
	for (const repair &one : some)
		if (goes({one}))
			return {one};
	for (usize i = some.size(); i-- > 0;) {
		repairs_of less = some;
		less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
		if (goes(less))
			some = less;
	}
	return some;
}

/* Seeks orders that remove the execution; if none do, orders and fences. */
repairs_of cause_finder::missing(const shown_fault &f,
				 const repairs_of &had) const
{
	repairs_of orders, fences, more;

	add_orders(*f.of, orders);
	add_fences(*f.of, true, fences);
	add_fences(*f.of, false, more);
	for (usize op = 1; op < operations.all.size(); op++)
		if (operations.all[op].what == operation::fence)
			fences.push_back({static_cast<u16>(op)});
	const auto add = [](repairs_of to, const repairs_of &also) {
		to.insert(to.end(), also.begin(), also.end());
		return to;
	};
	for (const repairs_of &those :
	     {orders, fences, add(fences, orders), more, add(more, orders)})
		if (auto found = least(f, had, those); !found.empty())
			return found;
	return {};
}

/* -- Exploring again ------------------------------------------------------- */

/* Explores the program with these repairs, on that machine. */
cause_finder::outcome cause_finder::explore_again(const repairs_of &some,
						  machine m)
{
	options again = *task.given;
	const options *const given = task.given;

	again.machine = m;
	again.workers = 1;
	again.shorten = 0;
	again.deepen = {};
	again.record_uses = again.load_buffering = false;
	memory.tell(nullptr);
	task.given = &again;
	repairs.set(some);
	task.repairs = !some.empty();
	reports.forget();
	(*explores)();
	repairs.set({});
	task.repairs = false;
	task.given = given;
	const result r = std::move(task.out);
	if (!r.ok())
		return r.found == fault ? outcome::fails : outcome::fails_else;
	return r.exhaustive ? outcome::right : outcome::unknown;
}

/*
 * Adds repairs until no execution fails; returns true if none does. Sets sc if
 * a failing execution is one of SC, too.
 */
bool cause_finder::complete(repairs_of &all, bool &sc)
{
	constexpr unsigned rounds = 4;
	outcome is = explore_again(all, task.given->machine);

	for (unsigned i = 0; i < rounds && is == outcome::fails; i++) {
		const shown_fault other = reports.take_shown();
		if (!other.of)
			break;
		sc = fails(other, {}, machine::sc);
		const repairs_of more = missing(other, {});
		if (sc || more.empty())
			return false;
		all.insert(all.end(), more.begin(), more.end());
		is = explore_again(all, task.given->machine);
	}
	for (usize i = all.size();
	     is == outcome::right && all.size() > 1 && i;) {
		repairs_of less = all;
		less.erase(less.begin() + static_cast<std::ptrdiff_t>(--i));
		if (explore_again(less, task.given->machine) == outcome::right)
			all = less;
	}
	return is == outcome::right;
}

/* -- Words ----------------------------------------------------------------- */

namespace {

std::string listed(const std::vector<std::string> &some)
{
	std::string all;

	for (usize i = 0; i < some.size(); i++)
		all += (!i		      ? ""
			: i + 1 < some.size() ? ", "
					      : " and ") +
		       some[i];
	return all;
}

void add_new(std::vector<std::string> &to, const std::string &one)
{
	if (!one.empty() && std::find(to.begin(), to.end(), one) == to.end())
		to.push_back(one);
}

} // namespace

/* "a release at row 2 (ring.hpp:14)", "a full fence between rows 1 and 2" */
std::string cause_finder::text_of(const repair &one, const shown_fault &f) const
{
	const graph &g = *f.of;
	std::vector<std::string> rows, locations;

	if (one.after)
		add_new(locations, text(operations[one.after].where));
	add_new(locations, text(operations[one.op].where));
	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 1; i <= g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const std::string row = f.rows.row_of(r);
			if (row.empty())
				continue;
			if (!one.after &&
			    operation_of(operations, g, r) == one.op)
				add_new(rows, row);
			if (!one.after || g.at(r).op != one.op || !begins(g, r))
				continue;
			const ref a = access_before(g, r);
			if (a.index && g.at(a).op == one.after)
				add_new(rows, "between rows " +
						      f.rows.row_of(a) +
						      " and " + row);
		}
	std::string all = one.after		     ? "a full fence "
			  : one.by == order::acquire ? "an acquire "
			  : one.by == order::release
				  ? "a release "
				  : "seq_cst, as its fence, ";
	if (!one.after && !rows.empty())
		all += rows.size() > 1 ? "at rows " : "at row ";
	all += listed(rows);
	const std::string where = listed(locations);
	if (rows.empty())
		return all + (one.after ? "between " : "at ") + where;
	return all + (where.empty() ? "" : " (" + where + ")");
}

/* The CPU's next write to the location that this event reads; or none. */
static ref next_write(const graph &g, ref read)
{
	if (g.at(read).what != kind::read)
		return {};
	for (ref w = read; ++w.index <= g.length(w.cpu);)
		if (g.at(w).what == kind::write &&
		    g.at(w).location == g.at(read).location)
			return w;
	return {};
}

/*
 * "; rows 1 and 2 as one read-modify-write (...) would forbid it": a CPU loads
 * and then stores, and another CPU's store to that location came in between.
 * Empty: there is none.
 */
std::string cause_finder::text_of_rmw(const shown_fault &f) const
{
	const graph &g = *f.of;

	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 1; i < g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const ref w = next_write(g, r);

			if (!w.index || g.at(w).mo == g.position(g.at(r)) + 1u)
				continue;
			const std::string rows = f.rows.row_of(r);
			if (!rows.empty())
				return "; rows " + rows + " and " +
				       f.rows.row_of(w) +
				       " as one read-modify-write (" +
				       text(operations[g.at(r).op].where) +
				       ") would forbid it";
		}
	return {};
}

/* The cause in words; empty: it is not known. */
std::string cause_finder::cause_of(const shown_fault &f)
{
	const bool on_x86 = fails(f, {}, machine::x86);
	bool sc = fails(f, {}, machine::sc);
	std::vector<std::string> all;
	bool whole = false;

	if (!fails(f, {}, task.given->machine))
		return {};
	repairs_of some = sc ? repairs_of{} : missing(f, {});
	if (!some.empty())
		whole = complete(some, sc);
	if (sc)
		return std::string("also under SC: no memory order is "
				   "missing, the steps "
				   "themselves interleave wrongly") +
		       text_of_rmw(f);
	for (const repair &r : some)
		add_new(all, text_of(r, f));
	std::string said = listed(all);
	if (whole)
		said = "missing: " + said + ": impossible under SC";
	else if (all.empty() || all.size() > 4)
		said = "this execution is impossible under SC";
	else
		said += " would forbid this execution, perhaps not all that "
			"fail: it is impossible under SC";
	if (task.given->machine != machine::rc11)
		return said;
	if (on_x86)
		return said + ", possible on x86";
	switch (explore_again({}, machine::x86)) {
	case outcome::fails:
		return said + ", possible on x86";
	case outcome::right:
		return said + " and on x86";
	case outcome::fails_else:
	case outcome::unknown:
		break;
	}
	return said;
}

void cause_finder::find(const std::function<void()> &explore)
{
	const shown_fault f = reports.take_shown();
	const bug is = task.out.found;

	if (!f.of || !task.given->cause.value_or(!task.given->weaken) ||
	    task.out.open || is == bug::not_repeatable || is == bug::unseen ||
	    is == bug::mixed_access)
		return;
	result found = std::move(task.out);
	fault = is;
	explores = &explore;
	reports.end_replay();
	task.most_runs = std::min(4 * task.runs + 256, u64{5000});
	found.cause = cause_of(f);
	task.most_runs = ~u64{0};
	reports.forget();
	task.out = std::move(found);
	if (!task.out.cause.empty())
		task.out.timeline += "CAUSE: " + task.out.cause + "\n";
}

} // namespace model
