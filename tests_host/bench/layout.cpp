/* SPDX-License-Identifier: MIT */
/*
 * layout - a lock in the cache line of the data that it guards, or apart
 *
 * Together, lock() brings the data along; but whoever waits takes the holder's
 * data away with every look.
 */
#include "experiments.hpp"

namespace bench {

namespace {

/* Two threads: mostly alone with the lock, and mostly not. */
struct place_load {
	const char *what;
	setting s;
};
constexpr place_load loads[] = {{"section 1", {2, 0, 50}},
				{"section 50", {2, 50, 50}},
				{"section 1, rare", {2, 0, 1000}},
				{"section 50, rare", {2, 50, 1000}}};

double rate_of(context &c, const row &r, const setting &s, bool together)
{
	const auto bed = (together ? r.make_together : r.make)(s.threads);
	const load l = {.section = steps_for(c.here, s.section),
			.think = steps_for(c.here, s.think)};
	struct alignas(128) own_line {
		tally seen;
	} threads[2];

	run_undisturbed(c, 2, [&](unsigned i, whistle &end) {
		threads[i].seen = {};
		bed->guard_data(i, l, end, threads[i].seen);
	});
	const auto &[a, b] = threads;
	const u64 start = std::min(a.seen.start, b.seen.start);
	const u64 end = std::max(a.seen.end, b.seen.end);
	return static_cast<double>(a.seen.acquisitions + b.seen.acquisitions) /
	       static_cast<double>(end - start) * c.here.cycles_a_second;
}

using by_load = std::map<const char *, series>;

} // namespace

void measure_layout(context &c)
{
	const auto &rows = rows_for(2);
	const unsigned rounds = (c.opts.rounds + 1) / 2;
	std::map<std::string, by_load> together, apart;

	for (unsigned round = 0; round < rounds; round++) {
		for (std::size_t i : shuffled(rows.size(), round)) {
			const row &r = rows[i];
			if (r.what != kind::klock || !r.make_together)
				continue;
			for (const auto &[what, s] : loads) {
				together[r.name][what].push_back(
					rate_of(c, r, s, true));
				apart[r.name][what].push_back(
					rate_of(c, r, s, false));
			}
		}
		progress("lock beside its data", round + 1, rounds);
	}

	csv file(c.file("layout.csv"),
		 {"lock", "bytes", "load", "rate_together", "rate_apart",
		  "ratio_median", "ratio_q1", "ratio_q3"});
	table t({"lock", "bytes", loads[0].what, loads[1].what, loads[2].what,
		 loads[3].what});
	for (const row &r : rows) {
		if (!together.contains(r.name))
			continue;
		std::vector<std::string> cells{r.name, std::to_string(r.bytes)};
		for (const auto &[what, s] : loads) {
			const series &a = together[r.name][what];
			const series &b = apart[r.name][what];
			const series q = ratios(a, b);
			file.add({r.name, std::to_string(r.bytes), what,
				  fixed(median(a), 0), fixed(median(b), 0),
				  fixed(median(q), 3),
				  fixed(quantile(q, 0.25), 3),
				  fixed(quantile(q, 0.75), 3)});
			cells.push_back(fixed(median(q), 2));
		}
		t.add(cells);
	}
	c.out.heading("Layout: throughput with the lock beside its data, to "
		      "the lock on a line of its own");
	c.out.say(t.text());
	c.out.say("2 threads, sections in cycles; rare: 1000 cycles of think "
		  "time, "
		  "not 50\n");
}

} // namespace bench
