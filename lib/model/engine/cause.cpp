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

/* The fence that these repairs put before this event; relaxed: none. */
order fence_before(const graph &g, ref r, const repairs_of &some)
{
	const ref a = begins(g, r) ? access_before(g, r) : ref{};
	order o = order::relaxed;

	for (const repair &one : some)
		if (a.index && one.after && one.after == g.at(a).op &&
		    one.op == g.at(r).op && !one.joins)
			o = both(o, one.by);
	return o;
}

/* The load that this write of the CPU follows: of the same location, by
 * another operation, with no access to it in between; or none. */
ref load_before(const graph &g, ref w)
{
	const event &written = g.at(w);

	for (ref r = w; --r.index;) {
		const event &e = g.at(r);
		if (is_access(e) && e.location == written.location &&
		    !(written.exclusive && r.index + 1 == w.index))
			return e.what == kind::read ? r : ref{};
	}
	return {};
}

/* Calls visit(load, write) for each such pair, until it returns true. */
template <typename Visit>
bool any_pair(const graph &g, Visit visit)
{
	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 2; i <= g.length(c); i++) {
			const ref w{static_cast<u8>(c), static_cast<u8>(i)};
			if (g.at(w).what != kind::write || !g.at(w).op)
				continue;
			const ref r = load_before(g, w);
			if (r.index && g.at(r).op && visit(r, w))
				return true;
		}
	return false;
}

/* Whether another CPU's write is between these two. */
bool is_torn(const graph &g, ref r, ref w)
{
	return g.at(w).mo != g.position(g.at(r)) + 1u;
}

event fence_of(order o)
{
	event fence;

	fence.what = kind::fence;
	fence.ord = o;
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

/* Whether another CPU writes between two operations that are one. */
bool repair_list::forbids(const graph &g, const std::vector<repair> &some)
{
	return any_pair(g, [&](ref r, ref w) {
		for (const repair &one : some)
			if (one.joins && one.after == g.at(r).op &&
			    one.op == g.at(w).op && is_torn(g, r, w))
				return true;
		return false;
	});
}

order repair_list::fence_before(unsigned cpu, u16 op)
{
	const u16 last = std::exchange(last_op[cpu], op);
	order o = order::relaxed;

	for (const repair &r : all)
		if (r.after && r.after == last && r.op == op && !r.joins)
			o = both(o, r.by);
	return o;
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
		std::vector<order> behind(f.length(c) + 1, order::relaxed);
		for (unsigned i = 1; i <= f.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const order o = fence_before(f, r, some);
			if (o != order::relaxed)
				behind[access_before(f, r).index] = o;
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
			if (behind[i] != order::relaxed)
				x->sb[c].push_back(fence_of(behind[i]));
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
 * Adds a fence between each two accesses that could need one: wanted() is given
 * both, and returns its order; relaxed: none.
 */
template <typename Wanted>
static void add_fences(const graph &g, repairs_of &to, Wanted wanted)
{
	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = 2; i <= g.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const ref a =
				begins(g, r) ? access_before(g, r) : ref{};
			if (!a.index || !g.at(a).op || !g.at(r).op)
				continue;
			const repair one{g.at(r).op, g.at(a).op,
					 wanted(g.at(a), g.at(r))};
			const auto same = [&](const repair &other) {
				return other.op == one.op &&
				       other.after == one.after;
			};
			if (one.by != order::relaxed &&
			    std::none_of(to.begin(), to.end(), same))
				to.push_back(one);
		}
}

/* A plain access, which is taken as a relaxed atomic one, can have no order:
 * a fence has it. */
order cause_finder::light_fence(const event &before, const event &behind) const
{
	const bool releases =
		behind.what == kind::write && operations[behind.op].is_plain;
	const bool acquires =
		before.what == kind::read && operations[before.op].is_plain;

	return both(releases ? order::release : order::relaxed,
		    acquires ? order::acquire : order::relaxed);
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

bool cause_finder::removes(const shown_fault &f, repairs_of all,
			   const repairs_of &more) const
{
	all.insert(all.end(), more.begin(), more.end());
	return !fails(f, all, task.given->machine);
}

/* Returns a smallest set of these repairs that removes the execution; empty:
 * all of them together do not. */
repairs_of cause_finder::least(const shown_fault &f, const repairs_of &had,
			       repairs_of some) const
{
	const auto goes = [&](const repairs_of &one) {
		return removes(f, had, one);
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

/* Makes an order of each full fence in whose place one is enough. */
void cause_finder::weaken(const shown_fault &f, const repairs_of &had,
			  const repairs_of &orders, repairs_of &some) const
{
	for (repair &one : some) {
		const repair full = one;
		if (!full.after || full.by != order::seq_cst)
			continue;
		for (const repair &weaker : orders) {
			one = weaker;
			if (removes(f, had, some))
				break;
			one = full;
		}
	}
}

/* Seeks orders that remove the execution; if none do, orders and fences. */
repairs_of cause_finder::missing(const shown_fault &f,
				 const repairs_of &had) const
{
	repairs_of orders, fences, more;

	add_orders(*f.of, orders);
	add_fences(*f.of, orders, [this](const event &a, const event &b) {
		return light_fence(a, b);
	});
	add_fences(*f.of, fences, [](const event &a, const event &b) {
		return a.location != b.location && a.what == kind::write &&
				       b.what == kind::read
			       ? order::seq_cst
			       : order::relaxed;
	});
	add_fences(*f.of, more, [](const event &a, const event &b) {
		return a.location != b.location ? order::seq_cst
						: order::relaxed;
	});
	for (usize op = 1; op < operations.all.size(); op++)
		if (operations.all[op].what == operation::fence)
			fences.push_back({static_cast<u16>(op)});
	const auto add = [](repairs_of to, const repairs_of &also) {
		to.insert(to.end(), also.begin(), also.end());
		return to;
	};
	for (const repairs_of &those :
	     {orders, fences, add(fences, orders), more, add(more, orders)})
		if (auto found = least(f, had, those); !found.empty()) {
			weaken(f, had, orders, found);
			return found;
		}
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
	task.forbids = [&some](const graph &g) {
		return repair_list::forbids(g, some);
	};
	reports.forget();
	(*explores)();
	repairs.set({});
	task.repairs = false;
	task.forbids = nullptr;
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
	std::string all = one.by == order::acquire   ? "an acquire "
			  : one.by == order::release ? "a release "
			  : one.by == order::acq_rel ? "an acquire-release "
			  : one.after		     ? "a full "
				      : "seq_cst, as its fence, ";
	if (one.after)
		all += "fence ";
	if (!one.after && !rows.empty())
		all += rows.size() > 1 ? "at rows " : "at row ";
	all += listed(rows);
	const std::string where = listed(locations);
	if (rows.empty())
		return all + (one.after ? "between " : "at ") + where;
	return all + (where.empty() ? "" : " (" + where + ")");
}

/* Adds, of each operation on this location, a pair that could be one; first
 * those between which another CPU's store came. */
static void add_pairs(const graph &g, unsigned location,
		      std::vector<std::pair<ref, ref>> &to)
{
	for (const bool torn : {true, false})
		any_pair(g, [&](ref r, ref w) {
			const auto same = [&](const auto &other) {
				return g.at(other.first).op == g.at(r).op &&
				       g.at(other.second).op == g.at(w).op;
			};
			if (g.at(w).location == location &&
			    is_torn(g, r, w) == torn &&
			    std::none_of(to.begin(), to.end(), same))
				to.push_back({r, w});
			return false;
		});
}

/*
 * "rows 3 and 4 as one read-modify-write (...)": a CPU loads and then stores,
 * and another CPU's store to that location came in between. Empty: there is
 * none. whole: no execution fails then.
 */
std::string cause_finder::text_of_rmw(const shown_fault &f, bool &whole)
{
	const graph &g = *f.of;
	std::string first;

	whole = false;
	any_pair(g, [&](ref torn, ref by) {
		std::vector<std::pair<ref, ref>> pairs;
		std::vector<std::string> said;
		repairs_of joined;

		if (!is_torn(g, torn, by) || f.rows.row_of(torn).empty())
			return false;
		add_pairs(g, g.at(by).location, pairs);
		for (const auto &[r, w] : pairs) {
			const u16 load = g.at(r).op;
			joined.push_back(
				{g.at(w).op, load, order::seq_cst, true});
			said.push_back("rows " + f.rows.row_of(r) + " and " +
				       f.rows.row_of(w) +
				       " as one read-modify-write (" +
				       text(operations[load].where) + ")");
		}
		whole = explore_again(joined, task.given->machine) ==
			outcome::right;
		if (whole || first.empty())
			first = whole ? listed(said) : said[0];
		return whole;
	});
	return first;
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
	const bool is_heavy =
		some.size() > 1 &&
		std::any_of(some.begin(), some.end(), [](const repair &one) {
			return one.by == order::seq_cst;
		});
	bool one_step = false;
	const std::string rmw = sc || is_heavy ? text_of_rmw(f, one_step) : "";
	if (sc)
		return "also under SC: no memory order is missing, the steps "
		       "themselves interleave wrongly" +
		       (rmw.empty() ? ""
			: one_step  ? "; missing: " + rmw
				    : "; " + rmw + " would forbid it");
	for (const repair &r : some)
		add_new(all, text_of(r, f));
	if (one_step) {
		all = {rmw};
		whole = true;
	}
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
