/* SPDX-License-Identifier: MIT */
/*
 * exclusive - locks that one CPU holds: by one thread, by several, from one
 * CPU to the other, by 1 .. all cores
 */
#include "bench.hpp"

#include <set>

namespace bench {

/*
 * uncontended - lock and unlock by one thread, in cycles
 *
 * Other threads exist, asleep: the C library leaves out lock prefixes as long
 * as there are none.
 */

void measure_uncontended(context &c)
{
	const unsigned rounds = c.opts.smoke ? 2 : 8 * c.opts.rounds;
	std::vector<std::unique_ptr<contest>> contests;
	std::vector<timed> all;
	section_costs sections;

	for (const row &r : rows_for(1))
		if (r.name != ping_pong_name) {
			contests.push_back(r.make(1));
			all.push_back(alone(*contests.back(), role::writes,
					    c.found.uncontended[r.name]));
			sections.add(all, *contests.back(), c.here,
				     role::writes, r.name);
		}
	run_alone("uncontended", rounds, all);

	csv file(c.file("uncontended.csv"),
		 {"lock", "kind", "bytes", "cycles_min", "cycles_median",
		  "ratio_min", "ratio_median", "ratio_q1", "ratio_q3",
		  "section_cycles", "section_to_median", "verdict"});
	const series &floor = c.found.uncontended[bare_xadd_name];
	for (const row &r : rows_for(1)) {
		const series &s = c.found.uncontended[r.name];
		if (s.empty())
			continue;
		const series q = ratios(s, floor);
		file.add(cells(r.name)
				 .of(name_of(r.what))
				 .of(r.bytes)
				 .of(least(s), 2)
				 .of(median(s), 2)
				 .of(least(s) / least(floor), 3)
				 .spread(q, 3)
				 .of(sections.cycles(r.name), 1)
				 .of(sections.to_median(r.name), 3)
				 .of(sections.differs(r.name) ? "differs"
							      : "equal"));
	}
	c.out.heading("Uncontended: cycles for lock and unlock, and ratios to "
		      "lock xadd");
	c.out.say(file.text() + sections.verdict("alone"));
}

/*
 * contended - throughput, fairness and longest wait under three loads
 */

namespace {

constexpr unsigned sections[] = {0, 50, 500};
/* The load under which cores are oversubscribed. */
constexpr unsigned oversubscribed_section = 50;
constexpr unsigned threads_a_core = 4;

std::string in_words(const setting &s)
{
	return std::to_string(s.threads) + " threads, sections of " +
	       std::to_string(s.section) + " cycles, " + name_of(s.apart);
}

const std::vector<std::string> heads = {"lock",
					"kind",
					"threads",
					"cores",
					"section_cycles",
					"think_cycles",
					"rate_median",
					"rate_q1",
					"rate_q3",
					"rate_max",
					"to_fifo",
					"to_fifo_q1",
					"to_fifo_q3",
					"min_to_max",
					"jain",
					"max_consecutive",
					"longest_wait_cycles",
					"handoff_share",
					"distance",
					"ping_pong_cycles",
					"rounds"};

/* The peer that a fair lock has to beat in this load: the best median. */
const series *best_fifo_peer(context &c, const setting &s, std::string &name)
{
	const series *best = nullptr;

	for (const row &r : rows_for(s.threads)) {
		const auto found = c.found.loads[s].find(r.name);
		if (r.what != kind::peer || !r.fair ||
		    found == c.found.loads[s].end())
			continue;
		const series &rate = found->second.rate;
		if (!best || median(rate) > median(*best)) {
			best = &rate;
			name = r.name;
		}
	}
	return best;
}

/* The peer is named in the report. */
void write(context &c, csv &file, const setting &s)
{
	std::string peer = none;
	const series *best = best_fifo_peer(c, s, peer);

	for (const row &r : rows_for(s.threads)) {
		const auto found = c.found.loads[s].find(r.name);
		if (found == c.found.loads[s].end())
			continue;
		const contended &f = found->second;
		file.add(
			cells(r.name)
				.of(name_of(r.what))
				.of(s.threads)
				.of(c.cores())
				.of(s.section)
				.of(s.think)
				.spread(f.rate, 0)
				.of(most(f.rate), 0)
				.spread(best ? ratios(f.rate, *best) : series{},
					2)
				.of(median(f.min_to_max), 3)
				.of(median(f.fairness), 3)
				.of(most(f.runs), 0)
				.of(f.longest_wait, 0)
				.of(f.handoffs, 3)
				.of(name_of(s.apart))
				.of(f.ping_pong, 0)
				.of(f.rate.size()));
	}
	c.out.say(in_words(s) + ": best FIFO peer: " + peer + "\n");
}

void run(context &c, csv &file, const setting &s, unsigned rounds,
	 unsigned watched)
{
	c.found.loads.merge(
		run_rounds(c, {.title = std::to_string(s.threads) +
					" threads, sections of " +
					std::to_string(s.section) + " cycles",
			       .rows = all_of(rows_for(s.threads)),
			       .settings = {s},
			       .rounds = rounds,
			       .watched = watched}));
	for (const setting &as : found_as(c.found.loads, s))
		write(c, file, as);
}

} // namespace

void measure_contended(context &c)
{
	const unsigned few = c.opts.few_rounds();
	c.out.heading("Contended: the loads");
	csv file(c.file("contended.csv"), heads);

	for (unsigned threads : std::set{2u, c.cores()})
		for (unsigned section : sections)
			run(c, file, {threads, section, usual_think},
			    c.opts.rounds, few);
	run(c, file,
	    {threads_a_core * c.cores(), oversubscribed_section, usual_think},
	    few, 1);
	c.out.heading("Contended: acquisitions per second, waits in cycles");
	c.out.say(file.text());
}

/*
 * handoff - two threads that do nothing but take the lock, beside a ping-pong
 */

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

void write_handoff(context &c, csv &file, const setting &s, by_row &rows)
{
	const series floor = cycles_each(c.here, rows[ping_pong_name].rate);

	for (const row &r : rows_for(2)) {
		const auto found = rows.find(r.name);
		if (found == rows.end())
			continue;
		const series each = cycles_each(c.here, found->second.rate);

		file.add(cells(r.name)
				 .of(name_of(r.what))
				 .of(least(each), 1)
				 .of(median(each), 1)
				 .spread(ratios(each, floor), 3)
				 .of(found->second.handoffs, 3)
				 .of(name_of(s.apart))
				 .of(each.size()));
	}
}

} // namespace

void measure_handoff(context &c)
{
	const setting pair{2, 0, 0};

	c.found.handoff = run_rounds(c, {.title = "handoff",
					 .rows = all_of(rows_for(2)),
					 .settings = {pair},
					 .rounds = c.opts.rounds,
					 .watched = c.opts.few_rounds()});

	csv file(c.file("handoff.csv"),
		 {"lock", "kind", "cycles_min", "cycles_median", "ratio_median",
		  "ratio_q1", "ratio_q3", "handoff_share", "distance",
		  "rounds"});
	for (const setting &s : found_as(c.found.handoff, pair))
		write_handoff(c, file, s, c.found.handoff.at(s));
	c.out.heading("Handoff: cycles per acquisition, 2 threads that do "
		      "nothing else, and ratios to a ping-pong");
	c.out.say(file.text());
	c.out.say("handoff_share: the share of acquisitions that came from the "
		  "other core; where it\nis small, the figure tells of the "
		  "lock staying where it was.\n");
}

/*
 * scaling - throughput of 1 .. all cores, one curve a lock
 */

namespace {

constexpr unsigned scaling_section = 50;

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
	std::map<unsigned, by_row> found;
	csv file(c.file("scaling.csv"),
		 {"lock", "kind", "threads", "section_cycles", "rate_median",
		  "rate_q1", "rate_q3", "to_one_thread", "jain", "distance"});

	for (unsigned n : at) {
		const setting s{n, scaling_section, usual_think};
		const std::string title = "scaling, " + std::to_string(n) +
					  " of " + std::to_string(c.cores());

		const by_setting all =
			run_rounds(c, {.title = title,
				       .rows = all_of(rows_for(n)),
				       .settings = {s},
				       .rounds = (c.opts.rounds + 1) / 2});
		const setting as = usual(all, s);
		found[n] = all.at(as);
		for (const row &r : rows_for(c.cores())) {
			if (r.what == kind::floor || !found[n].contains(r.name))
				continue;
			const contended &f = found[n][r.name];
			const double one = median(found[1][r.name].rate);
			file.add(cells(r.name)
					 .of(name_of(r.what))
					 .of(n)
					 .of(scaling_section)
					 .spread(f.rate, 0)
					 .of(median(f.rate) / one, 3)
					 .of(median(f.fairness), 3)
					 .of(name_of(as.apart)));
		}
	}
	c.out.heading("Scaling: acquisitions per second by 1 .. " +
		      std::to_string(c.cores()) + " threads");
	c.out.say(file.text());
}

} // namespace bench
