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

using by_lock = std::map<std::string, contended>;

/* The results for critical sections of one length, in cycles. */
struct crowd {
	unsigned section;
	by_lock cores;			    /* a thread a core */
	std::map<unsigned, by_lock> shared; /* by threads a core */
	by_lock second;			    /* long_crowd, for a second */
	std::map<std::string, overtakings> passed;
};

namespace {

/* -- Figures -------------------------------------------------------------- */

/* Null where it was not measured: too many threads, no such peer. */
const contended *find(const by_lock &in, const std::string &lock)
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

/* The ratio of the medians: the rates come from different rounds. */
double to_own(const contended &mine, const contended &own)
{
	return median(mine.rate) / median(own.rate);
}

/* -- Files ---------------------------------------------------------------- */

void write_load(csv &file, const std::string &load, const crowd &k,
		unsigned threads, const by_lock &found)
{
	for (const auto &[lock, f] : found) {
		const contended *own = find(k.cores, lock);

		file.add(cells(lock)
				 .of(load)
				 .of(threads)
				 .of(k.section)
				 .spread(f.rate, 0)
				 .spread(to(&f, find(found, plain_ticket)), 2)
				 .of(own ? fixed(to_own(f, *own), 2) : none)
				 .of(median(f.fairness), 4)
				 .of(f.longest_wait, 0)
				 .of(f.rate.size()));
	}
}

void write_loads(context &c, const std::vector<crowd> &found)
{
	csv file(c.file("crowded.csv"),
		 {"lock", "load", "threads", "section_cycles", "rate_median",
		  "rate_q1", "rate_q3", "to_ticket", "to_ticket_q1",
		  "to_ticket_q3", "to_own", "jain", "longest_wait_cycles",
		  "rounds"});

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
		  "passed_in_1000", "passed_disturbed", "waited_least",
		  "waited_median", "waited_most"});

	for (const crowd &k : found)
		for (const auto &[lock, o] : k.passed)
			file.add(cells(lock)
					 .of(k.section)
					 .of(o.acquisitions)
					 .of(o.passed)
					 .of(o.per_thousand(), 4)
					 .of(o.passed_disturbed)
					 .of(least(o.waits), 0)
					 .of(median(o.waits), 0)
					 .of(most(o.waits), 0));
	c.out.heading("Overtakings: 2 threads on 2 cores; they waited, cycles");
	c.out.say(file.text());
}

/* Cycles between two critical sections of a thread, on average. */
constexpr unsigned think = 50;

/* A smoke run has one length of sections. */
std::vector<unsigned> sections_of(const context &c)
{
	return c.opts.smoke ? std::vector{50u} : std::vector{0u, 50u, 500u};
}

/* A trial that is not made again: what disturbs is what this is about. */
template <typename Counter>
void count_round(context &c, const load &l, overtakings &to)
{
	const auto contest = std::make_unique<passing_contest<Counter>>();
	u64 acquisitions[2] = {};
	const bool quiet =
		c.threads.run(2, placement::own_core, c.opts.trial,
			      [&](unsigned i, whistle &end) {
				      tally seen;
				      contest->contend(i, l, end, seen);
				      acquisitions[i] = seen.acquisitions;
			      });

	to.add(contest->found, acquisitions[0] + acquisitions[1], quiet);
}

template <typename Counter>
overtakings count_overtakings(context &c, unsigned section)
{
	const load l = {.section = steps_for(c.here, section),
			.think = steps_for(c.here, think)};
	overtakings found;

	for (unsigned round = 0; round < c.opts.rounds; round++)
		count_round<Counter>(c, l, found);
	return found;
}

crowd measure(context &c, unsigned section)
{
	const std::string of =
		" a core, sections of " + std::to_string(section);
	const unsigned few = std::min(c.opts.few_rounds(), 5u);
	const unsigned watched = std::min(few, 2u);
	const unsigned usual = c.stretch;
	const auto rounds = [&](unsigned a_core, unsigned bare, unsigned seen) {
		return run_rounds(c, {a_core * c.cores(), section, think}, bare,
				  seen, std::to_string(a_core) + of,
				  crowd_locks);
	};
	crowd found{.section = section,
		    .cores = rounds(1, c.opts.rounds, watched),
		    .shared = {},
		    .second = {},
		    .passed = {}};

	for (unsigned a_core : crowds)
		found.shared[a_core] = rounds(a_core, few, watched);
	if (!c.opts.smoke)
		c.stretch = 10 * usual;
	found.second = rounds(long_crowd, std::min(few, 3u), watched);
	c.stretch = usual;
	found.passed[preemptable_locks[0]] =
		count_overtakings<klock::u8>(c, section);
	found.passed[preemptable_locks[1]] =
		count_overtakings<klock::u16>(c, section);
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
