/* SPDX-License-Identifier: MIT */
#include "brancher.hpp"
#include "consistency.hpp"

#include <cstring>

namespace model {

void brancher::start_run(unsigned count)
{
	for (unsigned c = 0; c < count; c++)
		swaps[c].clear();
}

void brancher::note_swap(const reading &q)
{
	swaps[cpus.current()].push_back(
		{cpus.ran(), q.at, *q.expected, q.ord, q.failed});
}

/* The order of a read that finds this value. */
order brancher::order_found(ref read, u64 word) const
{
	const event &e = work.running().at(read);

	if (e.step)
		return learning.at(e.step).access.order_for(word);
	for (const swap &s : swaps[read.cpu])
		if (s.index == read.index)
			return s.at.look(word) == s.expected ? s.ord : s.failed;
	return e.ord;
}

u64 brancher::word_at(unsigned location, unsigned position,
		      const window &w) const
{
	const graph &g = work.running();

	if (position)
		return g.at(g.write_at(location, position)).value;
	if (learning.is_walk())
		return learning.known().locations[location].initial;

	/* The memory holds what the location started with. */
	u64 word = 0;
	std::memcpy(&word, w.at, w.bytes);
	return word;
}

bool brancher::keep_if_consistent(some_graph &&other, ref added)
{
	const bool keeps = limits.allow(*other) &&
			   is_consistent(*other, task.given->machine, added);

	if (keeps)
		work.push(std::move(other));
	else
		work.recycle(std::move(other));
	return keeps;
}

/* Notes that the current CPU's operation reads that write. */
void brancher::note_read(const graph &g, u16 op, ref write)
{
	if (!write.initial() && write.cpu != cpus.current())
		operations.note_read(op, g.at(write).op);
}

void brancher::read(const reading &q, unsigned location)
{
	graph &g = work.running();
	const unsigned cpu = cpus.current();
	const ref mine = g.next_of(cpu);
	const unsigned newest = g.last(location);

	g.step = learning.current_step();
	g.op = q.op;
	for (unsigned p = floor(g, location, g.seen_before(mine)); p < newest;
	     p++) {
		const ref w = g.write_at(location, p);
		const u64 word = word_at(location, p, q.at);

		/*
		 * A blocked wait can be revisited by a later write only if it
		 * has read the newest write so far: all other reads lead
		 * nowhere.
		 */
		if (!q.ends(word) && !task.given->stale_waits)
			continue;
		if (symmetry.enters_gate(g, q) && !symmetry.in_turn(g, cpu, w))
			continue;
		if (q.would_write(word) && has_rival(g, location, p)) {
			only_revisit(q, location, p);
			continue;
		}
		auto other = work.copy(g);
		other->add_read(cpu, location, q.order_for(word), w, word);
		if (keep_if_consistent(std::move(other), mine))
			note_read(g, q.op, w);
	}
	const ref last = g.write_at(location, newest);
	const u64 word = word_at(location, newest, q.at);
	g.add_read(cpu, location, q.order_for(word), last, word);
	note_read(g, q.op, last);
}

/*
 * Adds an RMW directly above a write that has one. That is no execution, but in
 * one that it leads to the rival may be above this RMW.
 */
void brancher::only_revisit(const reading &q, unsigned location,
			    unsigned position)
{
	const unsigned cpu = cpus.current();
	const u64 word = word_at(location, position, q.at);
	auto other = work.copy(work.running());

	other->add_read(cpu, location, q.ord,
			other->write_at(location, position), word);
	if (other->step)
		other->step = learning.at(other->step).after(word);
	other->add_write(cpu, location, q.store_ord, q.written(word), true);
	symmetry.look_at_gate(*other, location, true);
	revisit(*other, other->last_of(cpu));
	work.recycle(std::move(other));
}

void brancher::write(const reading &q, unsigned location, u64 word)
{
	graph &g = work.running();
	const unsigned cpu = cpus.current();
	const bool exclusive = q.writes;
	const unsigned newest = g.last(location);
	unsigned lowest = floor(g, location, g.seen_before(g.next_of(cpu))) + 1;
	unsigned own = newest + 1;

	g.step = learning.current_step();
	g.op = q.op;
	g.add_write(cpu, location, q.store_ord, word, exclusive);
	symmetry.look_at_gate(g, location, exclusive);
	const ref mine = g.last_of(cpu);
	revisit(g, mine);

	if (exclusive) {
		const ref read{mine.cpu, static_cast<u8>(mine.index - 1)};
		own = g.position(g.at(read)) + 1;
		if (splits_rmw(g, location, own))
			cpus.stop(); /* and does not count */
		lowest = own;
	}
	for (unsigned p = lowest; p <= newest && !exclusive; p++) {
		if (splits_rmw(g, location, p))
			continue;
		auto other = work.copy(g);
		other->insert(mine, p);
		keep_if_consistent(std::move(other), mine);
	}
	g.insert(mine, own);
}

void brancher::fence(effect with)
{
	graph &g = work.running();

	g.step = learning.current_step();
	g.op = with.op;
	g.add_fence(cpus.current(), with.ord);
}

void brancher::choose(u64 of)
{
	graph &g = work.running();

	g.step = learning.current_step();
	for (u64 i = of - 1; i > 0; i--) {
		auto other = work.copy(g);
		other->add_choice(cpus.current(), i);
		work.push(std::move(other));
	}
	g.add_choice(cpus.current(), 0);
}

/*
 * revisit - a new write, and the earlier reads that may read it instead
 *
 * Each such graph keeps the read, the events that were there before it, and the
 * causes of the write. The rest is deleted and will be added again. Source:
 * TruSt (see checker.hpp), algorithm 2, lines on revisits and maximal
 * extensions.
 */

/*
 * Whether the run itself would have added e if only the events before e and the
 * causes of the write had been there. Of the graphs that differ only in events
 * that a revisit deletes, exactly one has none but such events. So no graph is
 * built twice.
 */
static bool added_newest(const graph &g, const event &e, const clock &causes)
{
	if (e.what == kind::fence)
		return true;
	if (e.what == kind::choice)
		return e.value == 0;
	if (e.revisits)
		return false;
	for (unsigned p = g.position(e) + 1; p <= g.last(e.location); p++) {
		const ref w = g.write_at(e.location, p);
		if (g.at(w).stamp <= e.stamp || causes.contains(w))
			return false;
	}
	return true;
}

/*
 * The last stamp of an event for which this does not hold. A read up to it
 * keeps its write: a revisit would delete the events after the read.
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

/* Lets the new write revisit the reads that were there before it. */
void brancher::revisit(const graph &with, ref write)
{
	constexpr u32 unknown = ~u32{0};
	const event &a = with.at(write);
	u32 settled = unknown;

	for (unsigned c = 0; c < with.cpus; c++) {
		/* A cause of the write cannot read it: no thin air. */
		for (unsigned i = a.porf.at[c] + 1u; i <= with.length(c); i++) {
			const ref r{static_cast<u8>(c), static_cast<u8>(i)};
			const event &e = with.at(r);

			if (e.what != kind::read || e.location != a.location)
				continue;
			if (settled == unknown)
				settled = last_settled(with, a.porf);
			if (e.stamp > settled)
				serve(with, r, write);
		}
	}
	if (task.given->load_buffering)
		early.serve_causes(with, write);
}

/* Adds the graphs in which `read`, with nothing after it, reads `write`. */
void brancher::serve(const graph &with, ref read, ref write)
{
	const u32 since = with.at(read).stamp;
	const unsigned location = with.at(write).location;
	const bool exclusive = with.at(write).exclusive;
	clock kept = with.at(write).porf;

	for (unsigned c = 0; c < with.cpus; c++)
		while (kept.at[c] < with.length(c) &&
		       with.sb[c][kept.at[c]].stamp <= since)
			kept.at[c]++;

	auto base = work.make();
	base->copy_kept(with, kept);

	const unsigned newest = base->last(location);
	unsigned p = floor(*base, location, base->seen_before(write));
	const unsigned seen = floor(*base, location, base->seen_before(read));
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
	const auto keep = [&](some_graph &&other) {
		bool keeps = false;

		other->insert(write, p);
		other->at(read).behind = p <= newest;
		if (p <= newest)
			keeps = keep_if_consistent(std::move(other));
		else if ((keeps = limits.allow(*other)))
			work.push(std::move(other));
		else
			work.recycle(std::move(other));
		if (keeps)
			operations.note_read(with.at(read).op,
					     with.at(write).op);
	};
	for (; p < to; p++)
		if (!splits_rmw(*base, location, p))
			keep(work.copy(*base));
	if (p == to && !splits_rmw(*base, location, p))
		keep(std::move(base));
	else
		work.recycle(std::move(base));
}

} // namespace model
