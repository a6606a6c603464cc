/* SPDX-License-Identifier: MIT */
#include "turns.hpp"

namespace model {

bool has_the_values_of_the_turn_before(const graph &g, const turn &t)
{
	const unsigned events = t.last - t.first;
	const auto &of = g.sb[t.cpu];

	if (t.first < events || t.last > g.length(t.cpu))
		return false;
	for (unsigned i = t.first; i < t.last; i++) {
		const event &a = of[i], &b = of[i - events];
		if (a.what == kind::write || a.what != b.what ||
		    a.location != b.location || a.value != b.value)
			return false;
	}
	return true;
}

bool is_like_the_turn_before(const graph &g, const turn &t)
{
	if (!has_the_values_of_the_turn_before(g, t))
		return false;
	for (unsigned i = t.first; i < t.last; i++)
		if (!(g.sb[t.cpu][i].from ==
		      g.sb[t.cpu][i - (t.last - t.first)].from))
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
	/* The event's new number; what the read of an RMW that is gone read. */
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
	unsigned locations = 0;
};

void shorter::add(unsigned cpu, const event &e)
{
	switch (e.what) {
	case kind::read:
		to.add_read(cpu, e.location, e.ord, renamed(e.from), e.value);
		break;
	case kind::write:
		to.add_write(cpu, e.location, e.ord, e.value, e.exclusive);
		break;
	case kind::fence:
		to.add_fence(cpu, e.ord);
		break;
	case kind::choice:
		to.add_choice(cpu, e.value);
		break;
	}
}

/* False: the CPU's next event reads a write that is not there yet. */
bool shorter::add_next(unsigned cpu)
{
	const ref r{static_cast<u8>(cpu), static_cast<u8>(done[cpu] + 1)};
	const event &e = g.at(r);

	if (!gone(r)) {
		if (e.what == kind::read && !there(renamed(e.from)))
			return false;
		add(cpu, e);
		if (e.location >= locations)
			locations = e.location + 1u;
	}
	done[cpu]++;
	return true;
}

/* False: the rest is no consistent graph. */
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
	for (unsigned location = 0; location < locations; location++) {
		unsigned position = 0;
		for (unsigned p = 1; p <= g.last(location); p++) {
			const ref w = g.write_at(location, p);
			if (!gone(w))
				to.insert(renamed(w), ++position);
		}
	}
	return true;
}

} // namespace

bool take_out(const turn &t, const graph &from, graph &result)
{
	return shorter(from, t, result).build();
}

} // namespace model
