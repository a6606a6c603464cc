/* SPDX-License-Identifier: MIT */
/*
 * turns - complete executions that are others with a loop's turn in vain more
 *
 * Is asked of the code: the execution's events without the turn's are replayed,
 * and the turn was in vain if every CPU then does what it did, to the end. Such
 * an execution was explored and checked, but is not counted.
 */
#include "checker.hpp"

#include <algorithm>

namespace model {

/* Whether a turn only reads, and the same values as the turn before it. */
bool checker::has_the_values_of_the_turn_before(const turn &t) const
{
	const unsigned events = t.last - t.first;
	const auto &of = g->sb[t.cpu];

	if (t.first < events || t.last > g->length(t.cpu))
		return false;
	for (unsigned i = t.first; i < t.last; i++) {
		const event &a = of[i], &b = of[i - events];
		if (a.what == kind::write || a.what != b.what ||
		    a.place != b.place || a.value != b.value)
			return false;
	}
	return true;
}

/* The same, from the same writes. */
bool checker::is_like_the_turn_before(const turn &t) const
{
	if (!has_the_values_of_the_turn_before(t))
		return false;
	for (unsigned i = t.first; i < t.last; i++)
		if (!(g->sb[t.cpu][i].from ==
		      g->sb[t.cpu][i - (t.last - t.first)].from))
			return false;
	return true;
}

namespace {

/* A graph without the events of a turn. */
struct shorter {
	shorter(const graph &from, const turn &without, graph &result)
	    : g(from), t(without), to(result)
	{
		to.reset(g.cpus, g.sequence);
	}
	bool build();

      private:
	bool gone(ref e) const
	{
		return e.cpu == t.cpu && e.index > t.first && e.index <= t.last;
	}
	/* What an event is called now; one of an RMW that is gone: its read. */
	ref renamed(ref e) const
	{
		while (!e.initial() && gone(e))
			e = g.at({e.cpu, static_cast<u8>(e.index - 1)}).from;
		if (!e.initial() && e.cpu == t.cpu && e.index > t.last)
			e.index = static_cast<u8>(e.index - (t.last - t.first));
		return e;
	}
	bool there(ref e) const
	{
		return e.initial() || to.length(e.cpu) >= e.index;
	}
	bool add_next(unsigned cpu);
	void add(unsigned cpu, const event &e);

	const graph &g;
	const turn &t;
	graph &to;
	unsigned done[max_cpus] = {}; /* events looked at, of each */
	unsigned places = 0;
};

void shorter::add(unsigned cpu, const event &e)
{
	switch (e.what) {
	case kind::read:
		to.add_read(cpu, e.place, e.ord, renamed(e.from), e.value);
		break;
	case kind::write:
		to.add_write(cpu, e.place, e.ord, e.value, e.exclusive);
		break;
	case kind::fence:
		to.add_fence(cpu, e.ord);
		break;
	case kind::choice:
		to.add_choice(cpu, e.value);
		break;
	}
}

/* False: the CPU's next event reads what is not there yet. */
bool shorter::add_next(unsigned cpu)
{
	const ref r{static_cast<u8>(cpu), static_cast<u8>(done[cpu] + 1)};
	const event &e = g.at(r);

	if (!gone(r)) {
		if (e.what == kind::read && !there(renamed(e.from)))
			return false;
		add(cpu, e);
		if (e.place >= places)
			places = e.place + 1u;
	}
	done[cpu]++;
	return true;
}

/* False: not all that is left hangs together. */
bool shorter::build()
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned cpu = 0; cpu < g.cpus; cpu++)
			while (done[cpu] < g.length(cpu) && add_next(cpu))
				again = true;
	}
	for (unsigned cpu = 0; cpu < g.cpus; cpu++)
		if (done[cpu] < g.length(cpu))
			return false;
	for (unsigned place = 0; place < places; place++) {
		unsigned position = 0;
		for (unsigned p = 1; p <= g.last(place); p++) {
			const ref w = g.write_at(place, p);
			if (!gone(w))
				to.insert(renamed(w), ++position);
		}
	}
	return true;
}

} // namespace

/* Replays this instead of the run's; true: the code does what it did. */
bool checker::does_the_same(std::unique_ptr<graph> &other)
{
	const bool learns = learning;

	g.swap(other);
	learning = false;
	begin();
	now = phase::comparing;
	replay();
	bool same = !stopped;
	for (unsigned c = 0; c < g->cpus; c++)
		same = same && cpus[c]->state == cpu_state::where::done &&
		       cpus[c]->ran == g->length(c);
	same = same && !way_in.found_a_head();
	g.swap(other);
	learning = learns;
	return same;
}

/* Of the run's turns those that may be in vain. */
std::vector<turn> checker::turns_to_ask() const
{
	std::vector<turn> some;

	for (const turn &t : way_in.turns) {
		const unsigned end = 2u * t.last - t.first;
		const turn next{t.cpu, t.last, static_cast<u8>(end), true};
		if (!t.stays ||
		    (end <= g->length(t.cpu) && is_like_the_turn_before(next)))
			some.push_back(t);
	}
	return some;
}

/*
 * Whether one of these turns of a complete run was in vain. If so, and if it
 * left the world as it is without it, nothing is left to be looked at.
 */
bool checker::has_turn_in_vain(const std::vector<turn> &turns,
			       bool &world_is_the_same)
{
	const auto *const world = static_cast<const u8 *>(what->world);
	const std::vector<u8> was(world, world + what->world_bytes);
	auto other = copy_of(*g);
	bool found = false;

	close();
	for (std::size_t i = 0; i < turns.size() && !found; i++) {
		if (!shorter(*g, turns[i], *other).build())
			continue;
		found = does_the_same(other);
		world_is_the_same =
			found && std::equal(was.begin(), was.end(), world);
		close();
	}
	recycle(std::move(other));
	return found;
}

} // namespace model
