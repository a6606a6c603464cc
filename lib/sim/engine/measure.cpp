/* SPDX-License-Identifier: MIT */
#include <sim/measure.hpp>

#include <algorithm>

namespace sim::detail {

/* Enough for a steady average; a thousand CPUs are one already. */
u64 acquisitions_for(unsigned cpus) { return cpus <= 128 ? 1024 : 512; }

void tracker::begin_counting()
{
	before = of.total();
	received_before.clear();
	for (unsigned c = 0; c < waiting.size(); c++)
		received_before.push_back(of.of(c).received);
	begun = now();
}

void tracker::arrive(unsigned cpu) { waiting[cpu] = {++arrivals, now(), 0}; }

void tracker::enter(unsigned cpu)
{
	waiter &mine = waiting[cpu];

	progress();
	overlaps += inside++ != 0;
	if (entries == from)
		begin_counting();
	if (entries == to)
		stop();
	if (entries++ >= from) {
		longest_wait = std::max(longest_wait, now() - mine.since);
		bypassed_most = std::max(bypassed_most, mine.bypassed);
		for (waiter &w : waiting)
			if (w.number != 0 && w.number < mine.number) {
				w.bypassed++;
				bypasses++;
				bypassed_most =
					std::max(bypassed_most, w.bypassed);
			}
	}
	mine.number = 0;
}

void tracker::leave() { inside--; }

figures tracker::result(const outcome &out, unsigned cpus) const
{
	figures f;
	const counts did = of.total().since(before);
	const u64 counted = entries > from ? entries - from : 0;
	const double n = counted ? static_cast<double>(counted) : 1.0;
	u64 most = 0;

	for (unsigned c = 0; c < received_before.size(); c++)
		most = std::max(most, of.of(c).received - received_before[c]);
	f.cpus = cpus;
	f.acquisitions = counted;
	f.misses = did.misses / n;
	f.memory = did.memory / n;
	f.transfers = did.transfers / n;
	f.upgrades = did.upgrades / n;
	f.sent = did.sent / n;
	f.received_most = most / n;
	f.loads = did.loads / n;
	f.stores = did.stores / n;
	f.rmws = did.rmws / n;
	f.fences = did.fences / n;
	f.cycles = (out.cycles - begun) / n;
	f.longest_wait = longest_wait;
	f.bypasses = bypasses / n;
	f.bypassed_most = bypassed_most;
	f.overlaps = overlaps;
	f.stuck = out.stuck;
	return f;
}

} // namespace sim::detail
