/* SPDX-License-Identifier: MIT */
/*
 * scaling - throughput of 1 .. all cores, one curve a lock
 */
#include "experiments.hpp"

namespace bench {

namespace {

constexpr unsigned section = 50;
constexpr unsigned think = 50;

/* 1, 2, 3, 4, then ever wider steps; all cores last. */
std::vector<unsigned> steps(unsigned cores)
{
	std::vector<unsigned> out;

	for (unsigned n = 1; n < cores; n += n < 4 ? 1 : n < 16 ? 2 : n / 4)
		out.push_back(n);
	out.push_back(cores);
	return out;
}

} // namespace

void measure_scaling(context &c)
{
	const std::vector<unsigned> at = steps(c.cores());
	std::map<unsigned, std::map<std::string, contended>> found;
	csv file(c.file("scaling.csv"),
		 {"lock", "kind", "threads", "section_cycles", "rate_median",
		  "rate_q1", "rate_q3", "to_one_thread", "jain"});
	std::vector<std::string> heads{"lock"};

	for (unsigned n : at) {
		const setting s{n, section, think};
		calibrate_handoff(c);
		found[n] = run_rounds(c, s, (c.opts.rounds + 1) / 2, 0,
				      "scaling, " + std::to_string(n) + " of " +
					      std::to_string(c.cores()));
		heads.push_back(std::to_string(n));
	}
	table t(heads);
	for (const row &r : rows_for(c.cores())) {
		std::vector<std::string> cells{r.name};
		if (!r.is_lock())
			continue;
		for (unsigned n : at) {
			if (!found[n].contains(r.name)) {
				cells.push_back(none);
				continue;
			}
			const contended &f = found[n][r.name];
			const double one = median(found[1][r.name].rate);
			cells.push_back(fixed(median(f.rate) / 1e6, 2));
			file.add({r.name, name_of(r.what), std::to_string(n),
				  std::to_string(section),
				  fixed(median(f.rate), 0),
				  fixed(quantile(f.rate, 0.25), 0),
				  fixed(quantile(f.rate, 0.75), 0),
				  fixed(median(f.rate) / one, 3),
				  fixed(median(f.fairness), 3)});
		}
		t.add(cells);
	}
	c.out.heading("Scaling: million acquisitions per second by 1 .. " +
		      std::to_string(c.cores()) + " threads, sections of " +
		      std::to_string(section) + " cycles");
	c.out.say(t.text());
}

} // namespace bench
