/* SPDX-License-Identifier: MIT */
/*
 * sleeping - locks whose waiters sleep: two threads that hand a turn to and
 * fro, a mutex whose waiter was told, and mutexes and shared mutexes under load
 *
 * A bar is met if the rate is, and no peer is both faster and fairer.
 */
#include "bench.hpp"

#include <algorithm>

namespace bench {

namespace {

/* -- Loads ---------------------------------------------------------------- */

using by_row = std::map<std::string, contended>;

constexpr unsigned think = 50;
/* No thread keeps a lock for as many turns while others wait. */
constexpr double longest_run = 10000;

bool is_peer(const std::string &lock)
{
	return std::find(sleeping_peers.begin(), sleeping_peers.end(), lock) !=
	       sleeping_peers.end();
}

struct sleeper {
	std::string name;
	std::function<std::unique_ptr<contest>(unsigned threads)> make;
};

/* A kind of lock: its rows, and the peers that it has to be as fast as. */
struct family {
	template <typename Row>
	family(std::string kind, std::vector<std::string> peers,
	       const std::vector<Row> &all)
	    : name(std::move(kind)), asked(std::move(peers))
	{
		for (const Row &r : all)
			if (r.name == name || r.name == name + " (hosted)" ||
			    is_peer(r.name))
				rows.push_back({r.name, r.make});
	}

	std::string name;
	std::vector<std::string> asked;
	std::vector<sleeper> rows;
	std::vector<setting> loads;
	unsigned rounds = 1, watched = 1;
	std::map<setting, by_row> found;
};

void add_loads(const context &c, family &f, unsigned section, unsigned writers)
{
	for (const unsigned threads : {2u, 4 * c.cores()})
		for (const placement where :
		     {placement::own_core, placement::anywhere})
			for (const bool data : {false, true})
				f.loads.push_back({threads, section, think,
						   where, writers, data});
}

std::string in_words(const setting &s, bool shared)
{
	return std::to_string(s.threads) + " threads" +
	       (s.where == placement::own_core ? "" : " not") + " pinned, " +
	       (s.data ? "data, " : "") + std::to_string(s.section) +
	       (shared ? " cycles, " + std::to_string(s.writers) + " %"
		       : " cycles");
}

void measure(context &c, family &f)
{
	const std::size_t all = f.rows.size() * f.loads.size();
	const unsigned rounds = f.rounds + f.watched;

	for (unsigned round = 0; round < rounds; round++) {
		for (const std::size_t i : shuffled(all, round)) {
			const sleeper &r = f.rows[i % f.rows.size()];
			const setting &s = f.loads[i / f.rows.size()];

			run_trial(c, *r.make(s.threads), s,
				  round < f.rounds ? watch::no : watch::yes,
				  f.found[s][r.name]);
		}
		progress(f.name + " under load", round + 1, rounds);
	}
}

/* The fastest of those that were measured. */
std::string best_of(const by_row &found, const std::vector<std::string> &names)
{
	std::string best;

	for (const std::string &name : names)
		if (found.contains(name) &&
		    (best.empty() ||
		     median(found.at(name).rate) > median(found.at(best).rate)))
			best = name;
	return best;
}

/* More in three rounds of four. */
bool exceeds(const series &a, const series &b)
{
	return quantile(ratios(a, b), 0.25) > 1;
}

/* Peers that are both faster and fairer. */
std::string better_peer(const by_row &found, const contended &mine)
{
	for (const auto &[name, its] : found)
		if (is_peer(name) && exceeds(its.rate, mine.rate) &&
		    exceeds(its.fairness, mine.fairness))
			return name;
	return "";
}

/* What is missed under a load; empty: nothing. */
std::string missed(const by_row &found, const std::string &lock,
		   const series &to_peer, double limit, bool limit_run)
{
	const contended &mine = found.at(lock);
	const std::string better = better_peer(found, mine);
	std::string out;

	if (median(to_peer) < limit)
		out += ", rate";
	if (!better.empty())
		out += ", " + better + " is faster and fairer";
	if (limit_run && mine.max_consecutive >= longest_run)
		out += ", run";
	return out.empty() ? out : out.substr(2);
}

/* What is asked of a lock under some of the loads. */
struct request {
	std::string what;
	double limit;
	bool limit_run;
	bool (*concerns)(const setting &);
};

void judge(context &c, const family &f, const std::string &lock,
	   const request &asked)
{
	bar all{.what = lock + ", " + asked.what,
		.ratio = {},
		.limit = asked.limit,
		.at_most = false,
		.missed = ""};
	unsigned loads = 0, met = 0;
	std::string worst;

	for (const auto &[s, found] : f.found) {
		if (!asked.concerns(s))
			continue;
		const series to_peer =
			ratios(found.at(lock).rate,
			       found.at(best_of(found, f.asked)).rate);

		loads++;
		met += missed(found, lock, to_peer, asked.limit,
			      asked.limit_run)
			       .empty();
		if (all.ratio.empty() || median(to_peer) < median(all.ratio)) {
			all.ratio = to_peer;
			worst = in_words(s, f.name != "mutex");
		}
	}
	all.what += ", the worst: " + worst;
	if (met < loads)
		all.missed = std::to_string(loads - met) + " of " +
			     std::to_string(loads) + " loads";
	c.found.bars.push_back(all);
}

double milliseconds(const context &c, double cycles)
{
	return 1e3 * cycles / c.here.cycles_a_second;
}

void write(context &c, csv &file, const family &f,
	   const std::vector<request> &asked)
{
	for (const setting &s : f.loads)
		for (const auto &[lock, found] : f.found.at(s)) {
			const by_row &all = f.found.at(s);
			const series to_peer = ratios(
				found.rate, all.at(best_of(all, f.asked)).rate);
			std::string verdict = none;

			for (const request &r : asked)
				if (!is_peer(lock) && r.concerns(s)) {
					verdict = missed(all, lock, to_peer,
							 r.limit, r.limit_run);
					if (verdict.empty())
						verdict = "met";
				}
			file.add(
				cells(lock)
					.of(s.threads)
					.of(s.where == placement::own_core)
					.of(s.data)
					.of(s.section)
					.of(s.writers)
					.spread(found.rate, 0)
					.spread(to_peer, 2)
					.spread(found.fairness, 3)
					.of(found.max_consecutive, 0)
					.of(milliseconds(c, found.longest_wait),
					    2)
					.of(found.rate.size())
					.of(verdict));
		}
}

void measure_loads(context &c)
{
	family mutexes("mutex", {"pthread_mutex"}, rows_for(4 * c.cores()));
	family shared("shared_mutex", {"pthread_rwlock", "std::shared_mutex"},
		      shared_rows_for(4 * c.cores()));
	const std::vector<request> of_mutex = {
		{"2 threads: rate >= pthread_mutex", 1.0, false,
		 [](const setting &s) { return s.threads == 2; }},
		{"4 threads a core: rate >= pthread_mutex, no run of 10000",
		 1.0, true, [](const setting &s) { return s.threads != 2; }}};
	const std::vector<request> of_shared = {
		{"rate >= 1.1 x pthread_rwlock, std::shared_mutex", 1.1, false,
		 [](const setting &s) { return s.writers != 1; }},
		{"1 % writes: rate >= pthread_rwlock, std::shared_mutex", 1.0,
		 false, [](const setting &s) { return s.writers == 1; }}};

	for (const unsigned section : {0u, 50u, 500u}) {
		add_loads(c, mutexes, section, 100);
		for (const unsigned writers : {0u, 10u, 50u})
			add_loads(c, shared, section, writers);
		if (c.opts.smoke)
			break;
	}
	add_loads(c, shared, 2000, 1);
	if (!c.opts.smoke) {
		mutexes.rounds = 3 * c.opts.rounds / 5;
		mutexes.watched = 2;
		shared.rounds = c.opts.rounds / 3;
	}
	measure(c, mutexes);
	measure(c, shared);

	csv file(c.file("sleeping.csv"),
		 {"lock", "threads", "pinned", "data", "section_cycles",
		  "writers", "rate_median", "rate_q1", "rate_q3", "to_peer",
		  "to_peer_q1", "to_peer_q3", "jain", "jain_q1", "jain_q3",
		  "max_consecutive", "longest_wait_ms", "rounds", "verdict"});
	write(c, file, mutexes, of_mutex);
	write(c, file, shared, of_shared);
	c.out.heading("Locks that sleep, under load: acquisitions per second");
	c.out.say(file.text());
	for (const char *kind : {"", " (hosted)"}) {
		for (const request &r : of_mutex)
			judge(c, mutexes, std::string("mutex") + kind, r);
		for (const request &r : of_shared)
			judge(c, shared, std::string("shared_mutex") + kind, r);
	}
}

} // namespace

void measure_sleeping(context &c)
{
	const unsigned usual = c.stretch;

	c.stretch = 20; /* 40 ms: ten slices */
	measure_loads(c);
	c.stretch = usual;
}

} // namespace bench
