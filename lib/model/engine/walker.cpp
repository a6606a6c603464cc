/* SPDX-License-Identifier: MIT */
#include "walker.hpp"

#include <algorithm>

namespace model {

/* The walker that is walking. */
static walker *on_its_way = nullptr;

bool known_verdict(void *of, u64 value)
{
	const verdict *const known =
		find(static_cast<step *>(of)->verdicts, value);

	if (!known)
		on_its_way->miss();
	return known->ends;
}

void walker::walk(const options &by, order_watcher *tells)
{
	on_its_way = this;
	given = &by;
	in_order = tells;
	cpus.set_going();
	learning.begin_walk();
	cpus.run_apart(
		stack,
		[](void *self) { static_cast<walker *>(self)->walk_cpus(); },
		this);
}

void walker::walk_cpus()
{
	const graph &g = work.running();

	kept = work.size();
	waits.start_run(g.cpus);
	for (unsigned c = 0; c < g.cpus; c++) {
		cpus.set_ran(c, g.length(c));
		learning.set_step(c, step_reached(c));
	}
	cpus.walk(g.cpus, [this] { return go_on(); });
}

/* The step after the last of the CPU's events. */
u32 walker::step_reached(unsigned c)
{
	const graph &g = work.running();

	if (!g.length(c))
		return learning.known().root(c);

	const event &e = g.at(g.last_of(c));
	const bool reads = e.what == kind::read || e.what == kind::choice;
	const u32 to =
		e.step ? learning.at(e.step).after(reads ? e.value : 0) : 0;
	if (!to)
		miss();
	return to;
}

void walker::miss()
{
	work.shrink_to(kept);
	learning.miss();
	cpus.stop();
}

/* Takes the CPU's next steps, until its turn ends. */
scheduler::state walker::go_on()
{
	using does = step::does;
	using state = scheduler::state;
	using phase = scheduler::phase;

	for (;;) {
		const step &s = learning.at(learning.current_step());
		const bool rmw = s.what == does::write && s.access.writes;

		if (s.what == does::unknown)
			miss();
		if (s.what == does::end)
			return state::done;
		if (s.what == does::block || s.what == does::drop) {
			block(s);
			return state::blocked;
		}
		if (s.what == does::read_plain || s.what == does::write_plain) {
			access_plain(s);
			continue;
		}
		if (cpus.now() == phase::replaying ||
		    (cpus.now() == phase::finishing_rmws && !rmw))
			return rmw ? state::before_rmw_write : state::at_end;
		if (s.what == does::read &&
		    symmetry.holds_back(work.running(), s.access))
			return state::at_end;
		add_event(s);
	}
}

void walker::add_event(const step &s)
{
	const unsigned cpu = cpus.current();

	/* If the CPU has come to a limit, a run of the code shows where. */
	if (work.running().is_full(cpu, given->max_events))
		miss();
	kept = work.size();
	if (s.what == step::does::read)
		branches.read(s.access, s.location);
	else if (s.what == step::does::write)
		branches.write(s.access, s.location, s.value);
	else if (s.what == step::does::choose)
		branches.choose(s.value);
	else
		branches.fence({s.access.ord, s.access.op});
	kept = work.size();
	cpus.count_event();
	learning.set_step(cpu, step_reached(cpu));
}

void walker::block(const step &s)
{
	const graph &g = work.running();
	const unsigned cpu = cpus.current();

	if (s.what == step::does::block && g.at(g.last_of(cpu)).behind &&
	    !given->stale_waits)
		cpus.stop();
	waits.set_blocked(s);
	irqs.set(cpu, s.irqs_left, s.irqs_on);
}

/* -- Plain data -------------------------------------------------------------
 */

void walker::access_plain(const step &s)
{
	const graph &g = work.running();
	const unsigned cpu = cpus.current();
	const learnt &code = learning.known();
	const bool writes = s.what == step::does::write_plain;
	const clock seen = g.seen_before(g.next_of(cpu));

	for (unsigned c = 0; c < g.cpus; c++) {
		const last_access by =
			code.last(learning.step_at(c), s.location);
		if (c != cpu && (by.written > seen.at[c] ||
				 (writes && by.read > seen.at[c])))
			miss(); /* a race: let the code show it */
		const u8 last =
			writes ? std::max(by.written, by.read) : by.written;
		if (in_order && c != cpu && last)
			in_order->in_order(c, last,
					   {cpu, 0, seen, {nullptr, 0}});
	}
	learning.set_step(cpu, s.after(writes ? 0 : last_plain(s.location)));
	if (!learning.current_step())
		miss();
}

/* The last write has the value, as the writes are ordered by happens-before. */
u64 walker::last_plain(unsigned plain) const
{
	const graph &g = work.running();
	const learnt &code = learning.known();
	u64 value = code.plains[plain].initial;
	unsigned writer = 0;
	u8 epoch = 0;

	for (unsigned c = 0; c < g.cpus; c++) {
		const last_access by = code.last(learning.step_at(c), plain);
		if (!by.written)
			continue;
		/* The epoch's accesses come after the event before it. */
		const clock seen =
			g.seen_before({static_cast<u8>(c), by.written});
		if (epoch && seen.at[writer] < epoch)
			continue;
		value = by.value;
		writer = c;
		epoch = by.written;
	}
	return value;
}

} // namespace model
