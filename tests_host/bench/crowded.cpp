/* SPDX-License-Identifier: MIT */
/*
 * crowded - locks whose waiters do not all run: more threads than cores
 */
#include "bench.hpp"

#include <algorithm>

namespace bench {

/* Threads a core: rates, and beside them trials of a second. */
constexpr unsigned crowds[] = {2, 4, most_threads_a_core};
constexpr unsigned long_crowd = 4;

constexpr const char *plain_ticket = "ticket_lock<u8>";
constexpr const char *backoff_lock = "backoff_ttas_lock";

/* The locks whose overtakings are counted. */
const std::vector<std::string> preemptable_locks = {
	"preemptable_ticket_lock<u8>", "preemptable_ticket_lock<u16>"};
/* Peers that are not there are left out. */
const std::vector<std::string> crowd_locks = {
	plain_ticket,	preemptable_locks[0], preemptable_locks[1],
	"queued_lock",	"timeout_lock",	      backoff_lock,
	"ck fas",	"tbb spin_mutex",     "absl SpinLock",
	"pthread_mutex"};

/* The results for critical sections of one length, in cycles. */
struct crowd {
	unsigned section;
	by_row cores;			   /* a thread a core */
	std::map<unsigned, by_row> shared; /* by threads a core */
	by_row second;			   /* long_crowd, for a second */
	by_row passed;
};

namespace {

/* -- Figures -------------------------------------------------------------- */

/* Null where it was not measured: too many threads, no such peer. */
const contended *find(const by_row &in, const std::string &lock)
{
	const auto found = in.find(lock);

	return found == in.end() || found->second.rate.empty() ? nullptr
							       : &found->second;
}

/* Rates round by round, which were interleaved. */
series to(const contended *mine, const contended *its)
{
	return mine && its ? ratios(mine->rate, its->rate) : series{};
}

/*
 * The ratio of the medians: the rates come from different rounds, but from
 * cores as far from each other.
 */
std::string to_own(const contended &mine, const contended *own)
{
	return own && own->apart == mine.apart
		       ? fixed(median(mine.rate) / median(own->rate), 2)
		       : none;
}

/* -- Files ---------------------------------------------------------------- */

void write_load(csv &file, const std::string &load, const crowd &k,
		unsigned threads, const by_row &found)
{
	for (const auto &[lock, f] : found)
		file.add(cells(lock)
				 .of(load)
				 .of(threads)
				 .of(k.section)
				 .spread(f.rate, 0)
				 .spread(to(&f, find(found, plain_ticket)), 2)
				 .of(to_own(f, find(k.cores, lock)))
				 .of(median(f.fairness), 4)
				 .of(f.longest_wait, 0)
				 .of(name_of(f.apart))
				 .of(f.ping_pong, 0)
				 .of(f.rate.size()));
}

void write_loads(context &c, const std::vector<crowd> &found)
{
	csv file(c.file("crowded.csv"),
		 {"lock", "load", "threads", "section_cycles", "rate_median",
		  "rate_q1", "rate_q3", "to_ticket", "to_ticket_q1",
		  "to_ticket_q3", "to_own", "jain", "longest_wait_cycles",
		  "distance", "ping_pong_cycles", "rounds"});

	for (const crowd &k : found) {
		write_load(file, "a thread a core", k, c.cores(), k.cores);
		for (const auto &[a_core, all] : k.shared)
			write_load(file, "crowded", k, a_core * c.cores(), all);
		write_load(file, "a second", k, long_crowd * c.cores(),
			   k.second);
	}
	c.out.heading("More threads than cores; to_own: to its own rate of a "
		      "thread a core");
	c.out.say(file.text());
}

void write_passed(context &c, const std::vector<crowd> &found)
{
	csv file(c.file("overtakings.csv"),
		 {"lock", "section_cycles", "acquisitions", "passed",
		  "passed_in_1000", "passed_disturbed", "distance",
		  "waited_least", "waited_median", "waited_most"});

	for (const crowd &k : found)
		for (const auto &[lock, o] : k.passed)
			file.add(cells(lock)
					 .of(k.section)
					 .of(o.acquisitions)
					 .of(o.passed)
					 .of(1e3 *
						     static_cast<double>(
							     o.passed) /
						     static_cast<double>(
							     o.acquisitions),
					     4)
					 .of(o.passed_disturbed)
					 .of(name_of(o.apart))
					 .of(least(o.waits), 0)
					 .of(median(o.waits), 0)
					 .of(most(o.waits), 0));
	c.out.heading("Overtakings: 2 threads on 2 cores; they waited, cycles");
	c.out.say(file.text());
}

/* A smoke run has one length of sections. */
std::vector<unsigned> sections_of(const context &c)
{
	return c.opts.smoke ? std::vector{50u} : std::vector{0u, 50u, 500u};
}

crowd measure(context &c, unsigned section)
{
	const unsigned few = std::min(c.opts.few_rounds(), 5u);
	const unsigned watched = std::min(few, 2u);
	const unsigned stretch = c.stretch;
	const auto most_rounds = [&](const plan &p) {
		const by_setting all = run_rounds(c, p);

		return all.at(usual(all, p.settings[0]));
	};
	const auto rounds = [&](unsigned a_core, unsigned bare) {
		const setting s{a_core * c.cores(), section, usual_think};

		return most_rounds(
			{.title = std::to_string(a_core) +
				  " a core, sections of " +
				  std::to_string(section),
			 .rows = named(rows_for(s.threads), crowd_locks),
			 .settings = {s},
			 .rounds = bare,
			 .watched = watched});
	};
	const setting pair{2, section, usual_think};
	crowd found{.section = section,
		    .cores = rounds(1, c.opts.rounds),
		    .shared = {},
		    .second = {},
		    .passed = {}};

	for (unsigned a_core : crowds)
		found.shared[a_core] = rounds(a_core, few);
	if (!c.opts.smoke)
		c.stretch = 10 * stretch;
	found.second = rounds(long_crowd, std::min(few, 3u));
	c.stretch = stretch;
	found.passed =
		most_rounds({.title = "overtakings",
			     .rows = named(rows_for(2), preemptable_locks),
			     .settings = {pair},
			     .rounds = 0,
			     .watched = c.opts.rounds,
			     .by = watch::passed});
	return found;
}

} // namespace

void measure_crowded(context &c)
{
	std::vector<crowd> found;

	measure_uncontended(c);
	for (unsigned section : sections_of(c))
		found.push_back(measure(c, section));
	write_loads(c, found);
	write_passed(c, found);
}

} // namespace bench
