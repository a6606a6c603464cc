/* SPDX-License-Identifier: MIT */
/*
 * exclusive - locks that one CPU holds: by one thread, by several, from one
 * CPU to the other, by 1 .. all cores
 */
#include "bench.hpp"

#include <thread>

namespace bench {

namespace {

/* Cycles between two critical sections of a thread, on average. */
constexpr unsigned think = 50;

} // namespace

/*
 * uncontended - lock and unlock by one thread, in cycles
 *
 * Other threads exist, asleep: the C library leaves out lock prefixes as long
 * as there are none.
 */

namespace {

double cycles_alone(contest &b, u64 turns)
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
	std::vector<std::unique_ptr<contest>> contests;

	pin_to_core(0);
	for (const row &r : rows)
		contests.push_back(r.make(1));
	for (unsigned round = 0; round < rounds; round++) {
		for (std::size_t i : shuffled(rows.size(), round)) {
			if (rows[i].name == ping_pong_name)
				continue;
			contests[i]->alone(turns / 10);
			c.found.uncontended[rows[i].name].push_back(
				cycles_alone(*contests[i], turns));
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
	const series &floor = c.found.uncontended[bare_xadd_name];
	for (const row &r : rows_for(1)) {
		const series &s = c.found.uncontended[r.name];
		if (s.empty())
			continue;
		const series q = ratios(s, floor);
		file.add({r.name, name_of(r.what), std::to_string(r.bytes),
			  fixed(least(s), 2), fixed(median(s), 2),
			  fixed(least(s) / least(floor), 3),
			  fixed(median(q), 3), fixed(quantile(q, 0.25), 3),
			  fixed(quantile(q, 0.75), 3)});
	}
	c.out.heading("Uncontended: cycles for lock and unlock, and ratios to "
		      "lock xadd");
	c.out.say(file.text());
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
	       std::to_string(s.section) + " cycles";
}

/* Microseconds. */
std::string as_time(const machine &here, double cycles)
{
	return fixed(cycles / here.cycles_a_second * 1e6, 1);
}

void write(context &c, csv &file, const setting &s)
{
	for (const row &r : rows_for(s.threads)) {
		const auto found = c.found.loads[s].find(r.name);
		if (found == c.found.loads[s].end())
			continue;
		const contended &f = found->second;
		file.add({r.name, name_of(r.what), std::to_string(s.threads),
			  std::to_string(c.cores()), std::to_string(s.section),
			  std::to_string(s.think), fixed(median(f.rate), 0),
			  fixed(most(f.rate), 0),
			  fixed(quantile(f.rate, 0.25), 0),
			  fixed(quantile(f.rate, 0.75), 0),
			  fixed(median(f.min_to_max), 3),
			  fixed(median(f.fairness), 3),
			  fixed(f.max_consecutive, 0), fixed(f.longest_wait, 0),
			  fixed(median(f.handoffs), 3),
			  std::to_string(f.rate.size())});
	}
}

/* The peer that a fair lock has to beat in this load: the best median. */
const series *best_fifo_peer(context &c, const setting &s, std::string &name)
{
	const series *best = nullptr;

	for (const row &r : rows_for(s.threads)) {
		const auto found = c.found.loads[s].find(r.name);
		if (r.what != kind::peer || !r.fifo ||
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

void print(context &c, const setting &s, const std::string &floor)
{
	std::string peer = "no FIFO peer";
	const series *best = best_fifo_peer(c, s, peer);
	table t({"lock", "M/s", "to best FIFO peer", "quartiles", "min/max",
		 "Jain", "max consecutive", "longest wait us", "handoffs"});

	for (const row &r : rows_for(s.threads)) {
		const auto found = c.found.loads[s].find(r.name);
		if (!r.is_lock())
			continue;
		if (found == c.found.loads[s].end()) {
			t.add({r.name, "for " + std::to_string(r.capacity)});
			continue;
		}
		const contended &f = found->second;
		const series q = best ? ratios(f.rate, *best) : series{};
		t.add({r.name, fixed(median(f.rate) / 1e6, 3),
		       best ? fixed(median(q), 2) : none,
		       best ? fixed(quantile(q, 0.25), 2) + " .. " +
				       fixed(quantile(q, 0.75), 2)
			    : none,
		       fixed(median(f.min_to_max), 2),
		       fixed(median(f.fairness), 2),
		       fixed(f.max_consecutive, 0),
		       as_time(c.here, f.longest_wait),
		       fixed(median(f.handoffs), 2)});
	}
	c.out.heading("Contended: " + in_words(s));
	c.out.say("best FIFO peer: " + peer + "; " + floor + "\n");
	c.out.say(t.text());
}

/* What becomes of the throughput when threads must wait for a core. */
void print_collapse(context &c, const setting &many, const setting &cores)
{
	table t({"lock", "order", "M/s", "to one thread a core", "Jain",
		 "longest wait us"});

	for (const row &r : rows_for(many.threads)) {
		const auto found = c.found.loads[many].find(r.name);
		const auto before = c.found.loads[cores].find(r.name);
		if (!r.is_lock() || found == c.found.loads[many].end() ||
		    before == c.found.loads[cores].end())
			continue;
		const contended &f = found->second;
		t.add({r.name, r.fifo ? "FIFO" : "not FIFO",
		       fixed(median(f.rate) / 1e6, 4),
		       fixed(median(f.rate) / median(before->second.rate), 4),
		       fixed(median(f.fairness), 2),
		       as_time(c.here, f.longest_wait)});
	}
	c.out.heading("Oversubscribed: " + in_words(many) + ", " +
		      std::to_string(threads_a_core) + " threads a core");
	c.out.say(t.text());
}

} // namespace

void measure_contended(context &c)
{
	const unsigned few = c.opts.few_rounds();
	csv file(c.file("contended.csv"),
		 {"lock", "kind", "threads", "cores", "section_cycles",
		  "think_cycles", "rate_median", "rate_max", "rate_q1",
		  "rate_q3", "min_to_max", "jain", "max_consecutive",
		  "longest_wait_cycles", "handoff_share", "rounds"});

	for (unsigned threads : {2u, c.cores()}) {
		if (threads == c.cores() && threads == 2 &&
		    c.found.loads.size() == std::size(sections))
			break; /* the same load twice */
		for (unsigned section : sections) {
			const setting s{threads, section, think};
			const double before = calibrate_handoff(c);
			c.found.loads[s] = run_rounds(c, s, c.opts.rounds, few,
						      in_words(s));
			const double after = calibrate_handoff(c);
			write(c, file, s);
			print(c, s,
			      "a ping-pong took " + fixed(before, 0) +
				      " cycles per turn before this, " +
				      fixed(after, 0) + " after");
		}
	}
	const setting cores{c.cores(), oversubscribed_section, think};
	const setting many{threads_a_core * c.cores(), oversubscribed_section,
			   think};
	c.found.loads[many] = run_rounds(c, many, few, 1, in_words(many));
	write(c, file, many);
	print_collapse(c, many, cores);
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
	const series floor =
		cycles_each(c.here, c.found.handoff[ping_pong_name].rate);
	for (const row &r : rows_for(2)) {
		const auto found = c.found.handoff.find(r.name);
		if (found == c.found.handoff.end())
			continue;
		const series each = cycles_each(c.here, found->second.rate);
		const series q = ratios(each, floor);
		file.add({r.name, name_of(r.what), fixed(least(each), 1),
			  fixed(median(each), 1), fixed(median(q), 3),
			  fixed(quantile(q, 0.25), 3),
			  fixed(quantile(q, 0.75), 3),
			  fixed(median(found->second.handoffs), 3)});
	}
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
	std::map<unsigned, std::map<std::string, contended>> found;
	csv file(c.file("scaling.csv"),
		 {"lock", "kind", "threads", "section_cycles", "rate_median",
		  "rate_q1", "rate_q3", "to_one_thread", "jain"});
	std::vector<std::string> heads{"lock"};

	for (unsigned n : at) {
		const setting s{n, scaling_section, think};
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
				  std::to_string(scaling_section),
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
		      std::to_string(scaling_section) + " cycles");
	c.out.say(t.text());
}

} // namespace bench
