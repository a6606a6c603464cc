/* SPDX-License-Identifier: MIT */
/*
 * walk - a run by what is known of the code, without it
 *
 * The events that the graph has are not replayed: each CPU goes on from the
 * step after its last. Branches are made by the same functions, in the same
 * order, as in a run of the code. What is not known yet, and what looks like a
 * fault, ends the walk: the code then runs, from the graph as it is.
 */
#include "checker.hpp"

namespace model {

/* False: nothing came of it, but for events of the graph. */
bool checker::walk()
{
	const u64 complete = out.complete, explored = out.explored;
	const u64 blocked = out.blocked, panicked = out.panicked;

	stopped = missed = false;
	walking = true;
	walker.start(walk_main, this);
	inside = true;
	walker.resume();
	inside = false;
	if (!stopped && !missed)
		finish();
	walking = false;
	if (!missed && out.ok())
		return true;

	suspected = !out.ok();
	out.found = bug::none;
	out.message.clear();
	out.complete = complete;
	out.explored = explored;
	out.blocked = blocked;
	out.panicked = panicked;
	return false;
}

void checker::walk_main(void *self)
{
	static_cast<checker *>(self)->walk_cpus();
}

/* The same turns as in a run: run.cpp. */
void checker::walk_cpus()
{
	using where = cpu_state::where;

	kept_work = work.size();
	for (cpu = 0; cpu < g->cpus; cpu++) {
		me().ran = static_cast<u8>(g->length(cpu));
		me().waits_for = 0;
		me().in_loop = false;
		me().panicked = me().assumed = false;
		me().step = step_reached();
	}
	now = phase::replaying;
	for (cpu = 0; cpu < g->cpus; cpu++)
		walk_on();
	now = phase::finishing_rmws;
	for (cpu = 0; cpu < g->cpus; cpu++)
		if (me().state == where::before_rmw_write)
			walk_on();
	now = phase::extending;
	for (cpu = 0; cpu < g->cpus; cpu++)
		if (me().state == where::at_end)
			walk_on();
	cpu = 0;
}

/* The step after the last of the CPU's events. */
u32 checker::step_reached()
{
	if (!g->length(cpu))
		return code.root(cpu);

	const event &e = g->at(g->last_of(cpu));
	const bool reads = e.what == kind::read || e.what == kind::choice;
	const u32 to =
		e.step ? code.steps[e.step].after(reads ? e.value : 0) : 0;
	if (!to)
		miss();
	return to;
}

/* Runs into what is not known. */
void checker::miss()
{
	for (; work.size() > kept_work; work.pop_back())
		recycle(std::move(work.back()));
	missed = true;
	stop();
}

bool checker::known_to_end(void *of, u64 value)
{
	const verdict *const known =
		find(static_cast<step *>(of)->verdicts, value);

	if (!known)
		the_checker().miss();
	return known->ends;
}

/* The CPU's next steps, as far as its turn goes. */
void checker::walk_on()
{
	using does = step::does;

	for (;;) {
		const step &s = code.steps[me().step];
		const bool rmw = s.what == does::write && s.how.writes;

		if (s.what == does::unknown)
			miss();
		if (s.what == does::end) {
			me().state = cpu_state::where::done;
			return;
		}
		if (s.what == does::block || s.what == does::drop) {
			walk_block(s);
			return;
		}
		if (s.what == does::read_plain || s.what == does::write_plain) {
			walk_plain(s);
			continue;
		}
		if (now == phase::replaying ||
		    (now == phase::finishing_rmws && !rmw)) {
			me().state = rmw ? cpu_state::where::before_rmw_write
					 : cpu_state::where::at_end;
			return;
		}
		if (s.what == does::read && held(s.how)) {
			me().state = cpu_state::where::at_end;
			return;
		}
		walk_event(s);
	}
}

void checker::walk_event(const step &s)
{
	const bool writes = s.what == step::does::write;

	wait_for_turn(writes && s.how.writes);
	kept_work = work.size();
	if (s.what == step::does::read) {
		branch_read(s.how, s.place);
	} else if (writes) {
		branch_write(s.how.store_ord, s.place, s.value, s.how.writes);
	} else if (s.what == step::does::choose) {
		branch_choice(s.value);
	} else {
		g->step = me().step;
		g->add_fence(cpu, s.how.ord);
	}
	kept_work = work.size();
	me().ran++;
	me().step = step_reached();
}

void checker::walk_block(const step &s)
{
	if (s.what == step::does::block && g->at(g->last_of(cpu)).behind &&
	    !how->stale_waits)
		stop();
	me().state = cpu_state::where::blocked;
	me().assumed = s.what == step::does::drop;
	me().irqs_left = s.irqs_left;
	me().irqs_on = s.irqs_on;
	for (const known_wait &w : s.waits)
		me().waits[me().waits_for++] = {w.at, {}, w.where, w.place};
}

/* -- Plain data -------------------------------------------------------------
 */

void checker::walk_plain(const step &s)
{
	const bool writes = s.what == step::does::write_plain;
	const clock seen = g->seen_before(g->next_of(cpu));

	for (unsigned c = 0; c < g->cpus; c++) {
		const last_access by = code.last(cpus[c]->step, s.place);
		if (c != cpu && (by.written > seen.at[c] ||
				 (writes && by.read > seen.at[c])))
			miss(); /* a race: let the code show it */
	}
	me().step = s.after(writes ? 0 : last_plain(s.place));
	if (!me().step)
		miss();
}

/* The value by the last write, as the writes happened one before another. */
u64 checker::last_plain(unsigned plain) const
{
	u64 value = code.plains[plain].initial;
	unsigned writer = 0;
	u8 epoch = 0;

	for (unsigned c = 0; c < g->cpus; c++) {
		const last_access by = code.last(cpus[c]->step, plain);
		if (!by.written)
			continue;
		/* The epoch's accesses come after the event before it. */
		const clock seen =
			g->seen_before({static_cast<u8>(c), by.written});
		if (epoch && seen.at[writer] < epoch)
			continue;
		value = by.value;
		writer = c;
		epoch = by.written;
	}
	return value;
}

/* A world made anew, as the walk's end leaves it. */
void checker::put_known_values()
{
	const auto put = [this](const learnt::location &l, u64 value) {
		void *const at = const_cast<void *>(l.at);
		save(at, l.bytes);
		std::memcpy(at, &value, l.bytes);
	};

	what->make_world();
	for (unsigned p = 0; p < code.places.size(); p++)
		if (const unsigned newest = g->last(p))
			put(code.places[p],
			    g->at(g->write_at(p, newest)).value);
	for (unsigned p = 0; p < code.plains.size(); p++)
		put(code.plains[p], last_plain(p));
}

} // namespace model
