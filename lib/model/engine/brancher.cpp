/* SPDX-License-Identifier: MIT */
/*
 * branch - adding a read or a write, and all that could have been instead
 *
 * The run itself takes the newest write, and the last place in modification
 * order: an event with nothing after it breaks no axiom. The rest goes on the
 * stack. Source: TruSt (see checker.hpp), algorithm 2.
 */
#include "checker.hpp"

namespace model {

bool checker::has(const graph &x, ref added) const
{
	if (task.given->machine != machine::rc11)
		return machine_has(x, task.given->machine);
	if (!x.any_sc)
		return true;
	return added.index ? sc_holds_with(x, added) : sc_holds(x);
}

bool checker::keep_if_sc(std::unique_ptr<graph> &&other, ref added)
{
	const bool keeps = within_bounds(*other) && has(*other, added);

	if (keeps)
		work.push(std::move(other));
	else
		work.recycle(std::move(other));
	return keeps;
}

u64 checker::word_at(unsigned place, unsigned position, const window &w) const
{
	if (position)
		return execution()
			.at(execution().write_at(place, position))
			.value;
	if (walking)
		return code.places[place].initial;

	/* The memory holds what the location started with. */
	u64 word = 0;
	std::memcpy(&word, w.at, w.bytes);
	return word;
}

/* The CPU's next event, which the graph has; the code must agree. */
const event &checker::next(kind what_it_is, unsigned place, u16 op)
{
	const ref r{static_cast<u8>(cpus.current()),
		    static_cast<u8>(cpus.ran() + 1)};
	event &e = execution().at(r);

	e.step = me().step;
	e.op = op;
	if (e.what == what_it_is && e.place == place)
		return e;
	if (cpus.now() == scheduler::phase::comparing || execution().unsure)
		cpus.stop();
	does_otherwise();
	return e;
}

/* -- Reads ----------------------------------------------------------------- */

const event &checker::read(const reading &q, unsigned place)
{
	learn(q, place);
	if (cpus.ran() == execution().length(cpus.current())) {
		wait_for_turn(false);
		while (symmetry.holds_back(execution(), q))
			cpus.leave(scheduler::state::at_end);
		learn_ends(q, place);
		branch_read(q, place);
	}

	const event &e = next(kind::read, place, q.op);
	if (!e.from.initial() && !e.early)
		cpus.wait_for(e.from);
	wait_for_past(e);
	if (execution().unsure)
		read_again(q);
	cpus.count_event();
	if (q.expected && q.failed != q.ord)
		remember(q);
	went(e.value);
	return e;
}

void checker::branch_read(const reading &q, unsigned place)
{
	const ref mine = execution().next_of(cpus.current());
	execution().step = me().step;
	execution().op = q.op;
	const unsigned newest = execution().last(place);

	for (unsigned p =
		     floor(execution(), place, execution().seen_before(mine));
	     p < newest; p++) {
		const u64 word = word_at(place, p, q.at);

		/*
		 * A wait that goes on is served by a later write only if it
		 * has read the newest there is: the others lead nowhere.
		 */
		if (!q.ends(word) && !task.given->stale_waits)
			continue;
		if (symmetry.enters_gate(execution(), q) &&
		    !symmetry.in_turn(execution(), cpus.current(),
				      execution().write_at(place, p)))
			continue;
		if (q.would_write(word) && has_rival(execution(), place, p)) {
			only_revisit(q, place, p);
			continue;
		}
		auto other = work.copy(execution());
		other->add_read(cpus.current(), place, q.order_for(word),
				execution().write_at(place, p), word);
		if (keep_if_sc(std::move(other), mine))
			meet(q.op, execution().write_at(place, p));
	}
	const u64 last = word_at(place, newest, q.at);
	execution().add_read(cpus.current(), place, q.order_for(last),
			     execution().write_at(place, newest), last);
	meet(q.op, execution().write_at(place, newest));
}

/*
 * An RMW on top of a write that has one: no execution by itself, but the other
 * may come to stand on top of this one.
 */
void checker::only_revisit(const reading &q, unsigned place, unsigned position)
{
	const u64 word = word_at(place, position, q.at);
	auto other = work.copy(execution());

	other->add_read(cpus.current(), place, q.ord,
			execution().write_at(place, position), word);
	other->step =
		execution().step ? code.steps[execution().step].after(word) : 0;
	other->add_write(cpus.current(), place, q.store_ord, q.written(word),
			 true);
	symmetry.look_at_gate(*other, place, true);
	revisit(*other, other->last_of(cpus.current()));
	work.recycle(std::move(other));
}

/* -- Writes ---------------------------------------------------------------- */

void checker::write(const reading &q, unsigned place, u64 word)
{
	learn_write(q, place, word);
	if (cpus.ran() == execution().length(cpus.current())) {
		wait_for_turn(q.writes);
		branch_write(q, place, word);
	}
	const event &e = next(kind::write, place, q.op);
	if (execution().unsure ? !keeps_promise(q, word)
			       : cpus.now() == scheduler::phase::comparing &&
					 e.value != word)
		cpus.stop();
	if (e.value != word)
		does_otherwise();
	cpus.count_event();
	went(0);
}

void checker::branch_write(const reading &q, unsigned place, u64 word)
{
	const bool exclusive = q.writes;
	const unsigned newest = execution().last(place);
	unsigned lowest = floor(execution(), place,
				execution().seen_before(
					execution().next_of(cpus.current()))) +
			  1;
	unsigned own = newest + 1;

	execution().step = me().step;
	execution().op = q.op;
	execution().add_write(cpus.current(), place, q.store_ord, word,
			      exclusive);
	symmetry.look_at_gate(execution(), place, exclusive);
	const ref mine = execution().last_of(cpus.current());
	revisit(execution(), mine);

	if (exclusive) {
		const ref read{mine.cpu, static_cast<u8>(mine.index - 1)};
		own = execution().position(execution().at(read)) + 1;
		if (splits_rmw(execution(), place, own))
			cpus.stop(); /* and does not count */
		lowest = own;
	}
	for (unsigned p = lowest; p <= newest && !exclusive; p++) {
		if (splits_rmw(execution(), place, p))
			continue;
		auto other = work.copy(execution());
		other->insert(mine, p);
		keep_if_sc(std::move(other), mine);
	}
	execution().insert(mine, own);
}

/* -- Choices that are not memory's ------------------------------------------
 */

u64 checker::choose(u64 n)
{
	if (step *const now_known = doing(step::does::choose))
		now_known->value = n;
	if (cpus.ran() == execution().length(cpus.current())) {
		wait_for_turn(false);
		branch_choice(n);
	}
	const event &e = next(kind::choice, 0, 0);
	cpus.count_event();
	went(e.value);
	return e.value;
}

void checker::branch_choice(u64 n)
{
	execution().step = me().step;
	for (u64 i = n - 1; i > 0; i--) {
		auto other = work.copy(execution());
		other->add_choice(cpus.current(), i);
		work.push(std::move(other));
	}
	execution().add_choice(cpus.current(), 0);
}

/*
 * revisit - a new write that reads which were there before it may read instead
 *
 * Each such graph keeps the read, what was there before it, and what causes the
 * write; the rest is deleted and will be added again. Source: TruSt (see
 * checker.hpp), algorithm 2, lines on revisits and maximal extensions.
 */

/*
 * Whether e is as the run itself would have added it, had only what came before
 * it and what causes the write been there. Exactly one of the graphs that
 * differ in what a revisit deletes is so: none is built twice.
 */
static bool added_newest(const graph &g, const event &e, const clock &causes)
{
	if (e.what == kind::fence)
		return true;
	if (e.what == kind::choice)
		return e.value == 0;
	if (e.revisits)
		return false;
	for (unsigned p = g.position(e) + 1; p <= g.last(e.place); p++) {
		const ref w = g.write_at(e.place, p);
		if (g.at(w).stamp <= e.stamp || causes.has(w))
			return false;
	}
	return true;
}

/*
 * The last stamp of what is not so. A read up to it keeps its write: a revisit
 * would delete what comes after it.
 */
static u32 last_settled(const graph &g, const clock &causes)
{
	u32 last = g.core;

	for (unsigned c = 0; c < g.cpus; c++)
		for (unsigned i = g.length(c); i > causes.at[c]; i--) {
			const event &e = g.sb[c][i - 1];
			if (e.stamp <= last)
				break;
			if (!added_newest(g, e, causes))
				last = e.stamp;
		}
	return last;
}

/* Serves the new write to the reads that were there before it. */
void checker::revisit(const graph &with, ref write)
{
	constexpr u32 unknown = ~u32{0};
	const event &a = with.at(write);
	u32 settled = unknown;

	for (unsigned c = 0; c < with.cpus; c++) {
		/* Events that cause the write cannot read it: no thin air. */
		for (unsigned i = a.porf.at[c] + 1u; i <= with.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = with.at(r);

			if (e.what != kind::read || e.place != a.place)
				continue;
			if (settled == unknown)
				settled = last_settled(with, a.porf);
			if (e.stamp > settled)
				serve(with, r, write);
		}
	}
	if (task.given->load_buffering)
		serve_causes(with, write);
}

/* The graphs in which read, with nothing after it, reads write. */
void checker::serve(const graph &with, ref read, ref write)
{
	const u32 since = with.at(read).stamp;
	const unsigned place = with.at(write).place;
	const bool exclusive = with.at(write).exclusive;
	clock kept = with.at(write).porf;

	for (unsigned c = 0; c < with.cpus; c++)
		while (kept.at[c] < with.length(c) &&
		       with.sb[c][kept.at[c]].stamp <= since)
			kept.at[c]++;

	auto base = work.make();
	base->copy_kept(with, kept);

	const unsigned newest = base->last(place);
	unsigned p = floor(*base, place, base->seen_before(write));
	const unsigned seen = floor(*base, place, base->seen_before(read));
	p = (p > seen ? p : seen) + 1;
	unsigned to = newest + 1;
	if (exclusive) {
		const ref half{write.cpu, static_cast<u8>(write.index - 1)};
		const unsigned on_top = base->position(base->at(half)) + 1;
		p = on_top < p ? newest + 2 : on_top;
		to = on_top;
	}
	base->at(read).ord = order_found(read, with.at(write).value);
	base->redirect(read, write);
	/* Defensive: no known write violates this symmetry rule. */
	if (with.gate[read.cpu] == read.index + 1 &&
	    !symmetry.in_turn(*base, read.cpu, write)) {
		work.recycle(std::move(base));
		return;
	}
	const auto keep = [&](std::unique_ptr<graph> &&other) {
		bool keeps = false;

		other->insert(write, p);
		other->at(read).behind = p <= newest;
		if (p <= newest)
			keeps = keep_if_sc(std::move(other));
		else if ((keeps = within_bounds(*other)))
			work.push(std::move(other));
		else
			work.recycle(std::move(other));
		if (keeps)
			meet(with.at(read).op, with.at(write).op);
	};
	for (; p < to; p++)
		if (!splits_rmw(*base, place, p))
			keep(work.copy(*base));
	if (p == to && !splits_rmw(*base, place, p))
		keep(std::move(base));
	else
		work.recycle(std::move(base));
}

/*
 * bounds - executions that are left out because they are far from the first
 *
 * In the first execution the CPUs run one after another, and each read finds
 * the newest write. How far another is from it can be told from the graph: the
 * stamps say what was there when an event was added. A branch beyond the bounds
 * is cut; executions that only it leads to are missed, and that is said.
 */

namespace {

/* Whether a write behind this position was there before the event. */
bool was_newer(const graph &g, const event &e)
{
	for (unsigned p = g.position(e) + 1; p <= g.last(e.place); p++)
		if (g.at(g.write_at(e.place, p)).stamp < e.stamp)
			return true;
	return false;
}

} // namespace

bool checker::within_bounds(const graph &x)
{
	unsigned preempted = 0, reordered = 0;

	if (task.given->preemptions == unbounded &&
	    task.given->max_reorder == unbounded)
		return true;
	for (unsigned c = 0; c < x.cpus; c++) {
		for (const event &e : x.sb[c]) {
			if (e.what != kind::read && e.what != kind::write)
				continue;
			if (e.what == kind::read && !e.from.initial() &&
			    x.at(e.from).stamp > e.stamp)
				preempted++;
			else
				reordered += was_newer(x, e);
		}
	}
	if (preempted <= task.given->preemptions &&
	    reordered <= task.given->max_reorder)
		return true;
	task.out.left_out++;
	return false;
}

} // namespace model
