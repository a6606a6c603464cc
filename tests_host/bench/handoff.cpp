/* SPDX-License-Identifier: MIT */
/*
 * handoff - two threads that do nothing but take the lock, beside a ping-pong
 */
#include "experiments.hpp"

namespace bench {

namespace {

/* Cycles an acquisition, round by round. */
series cycles_each(const machine &here, const series &rates)
{
	series out;

	for (double rate : rates)
		if (rate > 0)
			out.push_back(here.cycles_a_second / rate);
	return out;
}

} // namespace

double calibrate_handoff(context &c)
{
	contended found;

	for (const row &r : rows_for(2))
		if (r.name == ping_pong_name)
			for (int i = 0; i < 5; i++)
				run_trial(c, r, {2, 0, 0}, watch::no, found);
	return c.handoff_cycles = c.here.cycles_a_second / most(found.rate);
}

void measure_handoff(context &c)
{
	const setting s{2, 0, 0};

	calibrate_handoff(c);
	c.found.handoff =
		run_rounds(c, s, c.opts.rounds, c.opts.few_rounds(), "handoff");

	csv file(c.file("handoff.csv"),
		 {"lock", "kind", "cycles_min", "cycles_median", "ratio_median",
		  "ratio_q1", "ratio_q3", "handoff_share"});
	table t({"lock", "kind", "cycles min", "median", "to ping-pong",
		 "quartiles", "handoffs"});
	const series floor =
		cycles_each(c.here, c.found.handoff[ping_pong_name].rate);
	for (const row &r : rows_for(2)) {
		const auto found = c.found.handoff.find(r.name);
		if (found == c.found.handoff.end())
			continue;
		const series each = cycles_each(c.here, found->second.rate);
		const series q = ratios(each, floor);
		const double share = median(found->second.handoffs);
		file.add({r.name, name_of(r.what), fixed(least(each), 1),
			  fixed(median(each), 1), fixed(median(q), 3),
			  fixed(quantile(q, 0.25), 3),
			  fixed(quantile(q, 0.75), 3), fixed(share, 3)});
		t.add({r.name, name_of(r.what), fixed(least(each), 0),
		       fixed(median(each), 0), fixed(median(q), 2),
		       fixed(quantile(q, 0.25), 2) + " .. " +
			       fixed(quantile(q, 0.75), 2),
		       fixed(share, 2)});
	}
	c.out.heading("Handoff: cycles per acquisition, 2 threads that do "
		      "nothing else");
	c.out.say(t.text());
	c.out.say("handoffs: the share of acquisitions that came from the "
		  "other core; where it\nis small, the figure tells of the "
		  "lock staying where it was.\n");
}

} // namespace bench
