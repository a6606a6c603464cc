/* SPDX-License-Identifier: MIT */
/*
 * uncontended - lock and unlock by one thread, in cycles
 *
 * Other threads exist, asleep: the C library leaves out lock prefixes as long
 * as there are none.
 */
#include "experiments.hpp"

#include <thread>

namespace bench {

namespace {

double cycles_alone(bed &b, u64 turns)
{
	const u64 start = klock::cycles();

	b.alone(turns);
	return static_cast<double>(klock::cycles() - start) /
	       static_cast<double>(turns);
}

/* In a thread of its own: the one that was bound stays free. */
void run(context &c, unsigned rounds, u64 turns)
{
	const auto &rows = rows_for(1);
	std::vector<std::unique_ptr<bed>> beds;

	pin_to_core(0);
	for (const row &r : rows)
		beds.push_back(r.make(1));
	for (unsigned round = 0; round < rounds; round++) {
		for (std::size_t i : shuffled(rows.size(), round)) {
			if (rows[i].name == ping_pong_name)
				continue;
			beds[i]->alone(turns / 10);
			c.found.uncontended[rows[i].name].push_back(
				cycles_alone(*beds[i], turns));
		}
		progress("uncontended", round + 1, rounds);
	}
}

} // namespace

void measure_uncontended(context &c)
{
	const unsigned rounds = c.opts.smoke ? 2 : 8 * c.opts.rounds;

	std::thread([&] { run(c, rounds, 5000); }).join();

	csv file(c.file("uncontended.csv"),
		 {"lock", "kind", "bytes", "cycles_min", "cycles_median",
		  "ratio_min", "ratio_median", "ratio_q1", "ratio_q3"});
	table t({"lock", "kind", "bytes", "min", "median", "min/xadd",
		 "median/xadd", "quartiles"});
	const series &floor = c.found.uncontended[bare_xadd_name];
	for (const row &r : rows_for(1)) {
		const series &s = c.found.uncontended[r.name];
		if (s.empty())
			continue;
		const series q = ratios(s, floor);
		const double ratio_min = least(s) / least(floor);
		file.add({r.name, name_of(r.what), std::to_string(r.bytes),
			  fixed(least(s), 2), fixed(median(s), 2),
			  fixed(ratio_min, 3), fixed(median(q), 3),
			  fixed(quantile(q, 0.25), 3),
			  fixed(quantile(q, 0.75), 3)});
		t.add({r.name, name_of(r.what), std::to_string(r.bytes),
		       fixed(least(s), 1), fixed(median(s), 1),
		       fixed(ratio_min, 2), fixed(median(q), 2),
		       fixed(quantile(q, 0.25), 2) + " .. " +
			       fixed(quantile(q, 0.75), 2)});
	}
	c.out.heading("Uncontended: cycles for lock and unlock");
	c.out.say(t.text());
}

} // namespace bench
