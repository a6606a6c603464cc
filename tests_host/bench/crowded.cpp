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

/* Those that overtakings are counted of. */
const std::vector<std::string> preemptable_locks = {
	"preemptable_ticket_lock<u8>", "preemptable_ticket_lock<u16>"};
/* In the order of the tables; peers that are not there are left out. */
const std::vector<std::string> crowd_locks = {
	plain_ticket,	preemptable_locks[0], preemptable_locks[1],
	"queued_lock",	"timeout_lock",	      backoff_lock,
	"ck fas",	"tbb spin_mutex",     "absl SpinLock",
	"pthread_mutex"};

using by_lock = std::map<std::string, contended>;

/* With critical sections of one length, in cycles. */
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

/* Of rates that were not measured in the same rounds: of their medians. */
double to_own(const contended &mine, const contended &own)
{
	return median(mine.rate) / median(own.rate);
}

double milliseconds(const context &c, double cycles)
{
	return cycles / c.here.cycles_a_second * 1e3;
}

std::string millions(const contended &f)
{
	return fixed(median(f.rate) / 1e6, 2);
}

/* "0.66 (0.64-0.70)" */
std::string spread(const series &s, int digits)
{
	if (s.empty())
		return none;
	return fixed(median(s), digits) + " (" +
	       fixed(quantile(s, 0.25), digits) + "-" +
	       fixed(quantile(s, 0.75), digits) + ")";
}

/* Of lock() and unlock(), if code.py ran before. */
std::string code_bytes(const context &c, const std::string &lock)
{
	const auto found = c.found.code_bytes.find(lock);

	return found == c.found.code_bytes.end() ? none
						 : fixed(found->second, 0);
}

/* -- Tables --------------------------------------------------------------- */

void print_few(context &c, const std::vector<crowd> &found)
{
	std::vector<std::string> heads{"lock", "size, bytes", "code, bytes",
				       "uncontended, x `lock xadd`"};
	const auto &alone = c.found.uncontended;
	const std::string threads = std::to_string(c.cores());

	for (const crowd &k : found)
		heads.push_back(threads + " threads on " + threads +
				" cores, sections of " +
				std::to_string(k.section) +
				": M/s; to ticket (quartiles)");
	table t(heads);
	for (const std::string &lock : crowd_locks) {
		const row *r = find_row(lock);
		if (!r)
			continue;
		std::vector<std::string> cells{
			lock, std::to_string(r->bytes), code_bytes(c, lock),
			fixed(least(alone.at(lock)) /
				      least(alone.at(bare_xadd_name)),
			      2)};
		for (const crowd &k : found) {
			const contended *f = find(k.cores, lock);
			cells.push_back(
				f ? millions(*f) + "; " +
						spread(to(f,
							  find(k.cores,
							       plain_ticket)),
						       2)
				  : none);
		}
		t.add(cells);
	}
	c.out.heading("One thread a core");
	c.out.say(t.markdown());
}

/* "3.29; 14.3 (13.1-14.4); 0.34": M/s; to ticket; to its own. */
std::string in_crowd(const crowd &k, unsigned a_core, const std::string &lock)
{
	const by_lock &all = k.shared.at(a_core);
	const contended *f = find(all, lock), *own = find(k.cores, lock);

	if (!f || !own)
		return none;
	return millions(*f) + "; " + spread(to(f, find(all, plain_ticket)), 1) +
	       "; " + fixed(to_own(*f, *own), 2);
}

void print_many(context &c, const std::vector<crowd> &found)
{
	std::vector<std::string> heads{"lock", "section, cycles"};

	for (unsigned a_core : crowds)
		heads.push_back(std::to_string(a_core * c.cores()) +
				" threads: M/s; to ticket (quartiles); to its "
				"own of one thread a core");
	heads.push_back(std::to_string(long_crowd * c.cores()) +
			" threads for a second: Jain");
	heads.push_back("longest wait, ms");
	table t(heads);
	for (const crowd &k : found)
		for (const std::string &lock : crowd_locks) {
			if (!find_row(lock))
				continue;
			std::vector<std::string> cells{
				lock, std::to_string(k.section)};
			for (unsigned a_core : crowds)
				cells.push_back(in_crowd(k, a_core, lock));
			const contended *f = find(k.second, lock);
			cells.push_back(f ? fixed(median(f->fairness), 2)
					  : none);
			cells.push_back(
				f ? fixed(milliseconds(c, f->longest_wait), 0)
				  : none);
			t.add(cells);
		}
	c.out.heading("More threads than cores");
	c.out.say(t.markdown());
}

void print_passed(context &c, const std::vector<crowd> &found)
{
	table t({"lock", "section, cycles", "acquisitions", "passed over",
		 "in 1,000", "in trials where a thread lost its core",
		 "they waited, us: least, median, most"});

	for (const crowd &k : found)
		for (const auto &[lock, o] : k.passed) {
			const auto us = [&](double cycles) {
				return fixed(1e3 * milliseconds(c, cycles), 1);
			};
			t.add({lock, std::to_string(k.section),
			       std::to_string(o.acquisitions),
			       std::to_string(o.passed),
			       fixed(o.per_thousand(), 4),
			       std::to_string(o.passed_disturbed),
			       o.waits.empty()
				       ? none
				       : us(least(o.waits)) + ", " +
						 us(median(o.waits)) + ", " +
						 us(most(o.waits))});
		}
	c.out.heading("Overtakings: 2 threads on 2 cores");
	c.out.say(t.markdown());
}

/* One figure a line: a lock, a load, what it is, its value. */
void write_load(csv &file, const std::string &load, const crowd &k,
		unsigned threads, const by_lock &found)
{
	for (const auto &[lock, f] : found) {
		const series ratio = to(&f, find(found, plain_ticket));
		file.add({lock, load, std::to_string(threads),
			  std::to_string(k.section), fixed(median(f.rate), 0),
			  fixed(quantile(f.rate, 0.25), 0),
			  fixed(quantile(f.rate, 0.75), 0),
			  fixed(median(ratio), 4), fixed(median(f.fairness), 4),
			  fixed(f.longest_wait, 0),
			  std::to_string(f.rate.size())});
	}
}

/* All figures. */
void write_crowds(context &c, const std::vector<crowd> &found)
{
	csv file(c.file("crowded.csv"),
		 {"lock", "load", "threads", "section_cycles", "rate_median",
		  "rate_q1", "rate_q3", "to_ticket", "jain",
		  "longest_wait_cycles", "rounds"});
	csv passed(c.file("overtakings.csv"),
		   {"lock", "section_cycles", "acquisitions", "passed",
		    "passed_disturbed", "waited_least", "waited_median",
		    "waited_most"});

	for (const crowd &k : found) {
		write_load(file, "a thread a core", k, c.cores(), k.cores);
		for (const auto &[a_core, all] : k.shared)
			write_load(file, "crowded", k, a_core * c.cores(), all);
		write_load(file, "a second", k, long_crowd * c.cores(),
			   k.second);
		for (const auto &[lock, o] : k.passed)
			passed.add({lock, std::to_string(k.section),
				    std::to_string(o.acquisitions),
				    std::to_string(o.passed),
				    std::to_string(o.passed_disturbed),
				    fixed(least(o.waits), 0),
				    fixed(median(o.waits), 0),
				    fixed(most(o.waits), 0)});
	}
}

/* Tables that a README can take as they are. */
void print_crowds(context &c, const std::vector<crowd> &found)
{
	print_few(c, found);
	print_many(c, found);
	print_passed(c, found);
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
		c.threads.run(2, c.opts.trial, [&](unsigned i, whistle &end) {
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

	read_other_programs(c);
	measure_uncontended(c);
	for (unsigned section : sections_of(c))
		found.push_back(measure(c, section));
	write_crowds(c, found);
	print_crowds(c, found);
}

} // namespace bench
