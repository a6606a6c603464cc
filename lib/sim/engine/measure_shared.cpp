/* SPDX-License-Identifier: MIT */
#include <sim/measure_shared.hpp>

#include <algorithm>

namespace sim::detail {

namespace {

/* Of 1 % some tens must be left to average over. */
u64 sections_for(unsigned cpus) { return std::max(2u, 2048 / cpus); }

} // namespace

shared_tracker::shared_tracker(const simulator &s, const shared_workload &l,
			       bool keeps_writers_out)
    : load(l), sections(l.sections ? l.sections : sections_for(l.cpus)),
      start(l.cpus * first_read), of(s), readers_count(keeps_writers_out)
{
}

reading shared_tracker::look(unsigned cpu) const
{
	const counts &so_far = of.of(cpu);

	return {now(), so_far.misses, so_far.rmws};
}

void shared_tracker::enter(bool writes, u64 since)
{
	u64 &longest = did[writes].longest_wait;

	progress();
	overlaps += writers != 0 && (writes || readers_count);
	overlaps += writes && readers_count && readers != 0;
	(writes ? writers : readers)++;
	most_readers = std::max(most_readers, readers);
	longest = std::max(longest, now() - since);
}

void shared_tracker::leave(bool writes) { (writes ? writers : readers)--; }

void shared_tracker::note(bool writes, const reading &before,
			  const reading &after)
{
	spending &sum = did[writes];

	sum.sections++;
	sum.cycles += after.cycles - before.cycles - load.inside;
	sum.misses += after.misses - before.misses;
	sum.rmws += after.rmws - before.rmws;
}

shared_figures shared_tracker::result(const outcome &out) const
{
	shared_figures f;
	const u64 n = did[false].sections + did[true].sections;
	const auto averaged = [](spending s) {
		const double by = s.sections ? s.sections : 1.0;

		s.cycles /= by;
		s.misses /= by;
		s.rmws /= by;
		return s;
	};

	f.cpus = load.cpus;
	f.writers = load.writers;
	f.read = averaged(did[false]);
	f.write = averaged(did[true]);
	f.cycles = n ? static_cast<double>(out.cycles - start) / n : 0;
	f.most_readers = most_readers;
	f.overlaps = overlaps;
	f.stuck = out.stuck;
	return f;
}

} // namespace sim::detail
