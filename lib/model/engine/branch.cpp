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

std::unique_ptr<graph> checker::new_graph()
{
	if (spare.empty())
		return std::make_unique<graph>();

	std::unique_ptr<graph> one = std::move(spare.back());
	spare.pop_back();
	return one;
}

std::unique_ptr<graph> checker::copy_of(const graph &from)
{
	std::unique_ptr<graph> copy = new_graph();

	*copy = from;
	return copy;
}

void checker::recycle(std::unique_ptr<graph> &&done)
{
	spare.push_back(std::move(done));
}

bool checker::has(const graph &x, ref added) const
{
	if (how->machine != machine::rc11)
		return machine_has(x, how->machine);
	if (!x.any_sc)
		return true;
	return added.index ? sc_holds_with(x, added) : sc_holds(x);
}

void checker::keep_if_sc(std::unique_ptr<graph> &&other, ref added)
{
	if (within_bounds(*other) && has(*other, added))
		work.push_back(std::move(other));
	else
		recycle(std::move(other));
}

u64 checker::word_at(unsigned place, unsigned position, const window &w) const
{
	if (position)
		return g->at(g->write_at(place, position)).value;
	if (walking)
		return code.places[place].initial;

	/* The memory holds what the location started with. */
	u64 word = 0;
	std::memcpy(&word, w.at, w.bytes);
	return word;
}

/* The CPU's next event, which the graph has; the code must agree. */
const event &checker::next(kind what_it_is, unsigned place)
{
	const ref r{static_cast<u8>(cpu), static_cast<u8>(me().ran + 1)};
	event &e = g->at(r);

	e.step = me().step;
	if (e.what == what_it_is && e.place == place)
		return e;
	if (now == phase::comparing || g->unsure)
		stop();
	does_otherwise();
	return e;
}

/* -- Reads ----------------------------------------------------------------- */

const event &checker::read(const reading &q, unsigned place)
{
	learn(q, place);
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		while (held(q))
			leave(cpu_state::where::at_end);
		learn_ends(q, place);
		branch_read(q, place);
	}

	const event &e = next(kind::read, place);
	if (!e.from.initial() && !e.early) {
		while (cpus[e.from.cpu]->ran < e.from.index) {
			me().source = e.from;
			leave(cpu_state::where::at_source);
		}
	}
	wait_for_past(e);
	if (g->unsure)
		read_again(q);
	me().ran++;
	if (q.expected && q.failed != q.ord)
		remember(q);
	went(e.value);
	return e;
}

void checker::branch_read(const reading &q, unsigned place)
{
	const ref mine = g->next_of(cpu);
	g->step = me().step;
	const unsigned newest = g->last(place);

	for (unsigned p = floor(*g, place, g->seen_before(mine)); p < newest;
	     p++) {
		const u64 word = word_at(place, p, q.at);

		/*
		 * A wait that goes on is served by a later write only if it
		 * has read the newest there is: the others lead nowhere.
		 */
		if (!q.ends(word) && !how->stale_waits)
			continue;
		if (enters(q) && !in_turn(*g, cpu, g->write_at(place, p)))
			continue;
		if (q.would_write(word) && has_rival(*g, place, p)) {
			only_revisit(q, place, p);
			continue;
		}
		auto other = copy_of(*g);
		other->add_read(cpu, place, q.order_for(word),
				g->write_at(place, p), word);
		keep_if_sc(std::move(other), mine);
	}
	const u64 last = word_at(place, newest, q.at);
	g->add_read(cpu, place, q.order_for(last), g->write_at(place, newest),
		    last);
}

/*
 * An RMW on top of a write that has one: no execution by itself, but the other
 * may come to stand on top of this one.
 */
void checker::only_revisit(const reading &q, unsigned place, unsigned position)
{
	const u64 word = word_at(place, position, q.at);
	auto other = copy_of(*g);

	other->add_read(cpu, place, q.ord, g->write_at(place, position), word);
	other->step = g->step ? code.steps[g->step].after(word) : 0;
	other->add_write(cpu, place, q.store_ord, q.written(word), true);
	look_at_gate(*other, place, true);
	revisit(*other, other->last_of(cpu));
	recycle(std::move(other));
}

/* -- Writes ---------------------------------------------------------------- */

void checker::write(const reading &q, unsigned place, u64 word)
{
	learn_write(q, place, word);
	if (me().ran == g->length(cpu)) {
		wait_for_turn(q.writes);
		branch_write(q.store_ord, place, word, q.writes);
	}
	const event &e = next(kind::write, place);
	if (g->unsure ? !keeps_promise(q, word)
		      : now == phase::comparing && e.value != word)
		stop();
	if (e.value != word)
		does_otherwise();
	me().ran++;
	went(0);
}

void checker::branch_write(order o, unsigned place, u64 word, bool exclusive)
{
	const unsigned newest = g->last(place);
	unsigned lowest = floor(*g, place, g->seen_before(g->next_of(cpu))) + 1;
	unsigned own = newest + 1;

	g->step = me().step;
	g->add_write(cpu, place, o, word, exclusive);
	look_at_gate(*g, place, exclusive);
	const ref mine = g->last_of(cpu);
	revisit(*g, mine);

	if (exclusive) {
		const ref read{mine.cpu, static_cast<u8>(mine.index - 1)};
		own = g->position(g->at(read)) + 1;
		if (splits_rmw(*g, place, own))
			stop(); /* and does not count */
		lowest = own;
	}
	for (unsigned p = lowest; p <= newest && !exclusive; p++) {
		if (splits_rmw(*g, place, p))
			continue;
		auto other = copy_of(*g);
		other->insert(mine, p);
		keep_if_sc(std::move(other), mine);
	}
	g->insert(mine, own);
}

/* -- Choices that are not memory's ------------------------------------------
 */

u64 checker::choose(u64 n)
{
	if (step *const now_known = doing(step::does::choose))
		now_known->value = n;
	if (me().ran == g->length(cpu)) {
		wait_for_turn(false);
		branch_choice(n);
	}
	const event &e = next(kind::choice, 0);
	me().ran++;
	went(e.value);
	return e.value;
}

void checker::branch_choice(u64 n)
{
	g->step = me().step;
	for (u64 i = n - 1; i > 0; i--) {
		auto other = copy_of(*g);
		other->add_choice(cpu, i);
		work.push_back(std::move(other));
	}
	g->add_choice(cpu, 0);
}

} // namespace model
