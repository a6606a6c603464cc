/* SPDX-License-Identifier: MIT */
/*
 * contended - throughput, fairness and longest wait under three loads
 */
#include "experiments.hpp"

namespace bench {

namespace {

/* Cycles between two critical sections of a thread, on average. */
constexpr unsigned think = 50;
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

} // namespace bench
