/* SPDX-License-Identifier: MIT */
/*
 * sleeping - locks whose waiters sleep: a mutex whose waiter was told, mutexes
 * and shared mutexes under load
 *
 * A bar is met if the rate is, and no peer is both faster and fairer.
 */
#include "bench.hpp"
#include "peers/peers.hpp"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace bench {

namespace {

/* No thread takes a lock so often in a row while others want it. */
constexpr double longest_run = 10000;

bool is_peer(const std::string &lock)
{
	return std::find(sleeping_peers.begin(), sleeping_peers.end(), lock) !=
	       sleeping_peers.end();
}

/* An unlock gives it to the waiter, which so is not only told. */
bool hands_over(const std::string &lock)
{
	return lock == "inheriting_mutex" || lock == "pthread_mutex PI";
}

/* The bars of a lock under some of the loads. */
struct request {
	std::string what;
	double rate; /* to the peers' */
	bool limits_run;
	bool (*concerns)(const setting &);
};

/* A kind of lock: its rows, and the peers that it has to be as fast as. */
struct family {
	family(std::string kind, std::vector<std::string> peers,
	       const std::vector<row> &all)
	    : name(std::move(kind)), asked(std::move(peers))
	{
		for (const row &r : all)
			if (is_asked(r.name) || is_peer(r.name) ||
			    r.name == "inheriting_" + name)
				rows.push_back(&r);
	}

	/* Whether there are bars for it. */
	bool is_asked(const std::string &lock) const
	{
		return lock == name || lock == name + " (hosted)";
	}

	std::string name;
	std::vector<std::string> asked;
	std::vector<const row *> rows;
	std::vector<request> requests;
	std::vector<std::string> columns;
	std::vector<setting> loads;
	unsigned rounds = 1, watched = 1;
	by_setting found;

	/* Returns the loads with each distance that they were found at. */
	std::vector<setting> found_loads() const
	{
		std::vector<setting> all;

		for (const setting &load : loads)
			for (const setting &as : found_as(found, load))
				all.push_back(as);
		return all;
	}
};

/* -- A mutex whose waiter was told, and has not run yet ------------------- */

/* lock() and unlock() so often, one behind the other. */
double cycles_in_a_row(contest &lock)
{
	return cycles_each(64, [&](u64 n) { lock.alone(role::writes, n); });
}

bool is_asleep(pid_t thread)
{
	std::ifstream file("/proc/self/task/" + std::to_string(thread) +
			   "/stat");
	std::string line;

	std::getline(file, line); /* its number (its name) its state ... */
	return line.substr(line.rfind(')') + 1).starts_with(" S");
}

/*
 * Two threads on one core: one holds the lock until the other sleeps in it,
 * wakes it by unlock(), and goes on before it has run. The other's wake-ups do
 * not preempt (SCHED_BATCH); where it ran all the same, nothing is noted.
 */
void tell(contest &lock, unsigned times, series &alone, series &told)
{
	system_semaphore go, gone;
	std::atomic<pid_t> waiter{0};
	std::atomic<bool> waits{false};

	std::thread other([&] {
		const sched_param none{};

		pin_to_core(0);
		sched_setscheduler(0, SCHED_BATCH, &none);
		waiter = gettid();
		for (unsigned i = 0; i < times; i++) {
			go.acquire();
			waits = true;
			lock.take(1);
			waits = false;
			lock.leave(1);
			gone.release();
		}
	});
	std::thread([&] {
		pin_to_core(0);
		for (unsigned i = 0; i < times; i++) {
			lock.take(0);
			go.release();
			while (!waits || !is_asleep(waiter))
				usleep(20);
			const long switches = involuntary_switches();
			lock.leave(0);
			const double cycles = cycles_in_a_row(lock);
			if (waits && involuntary_switches() == switches)
				told.push_back(cycles);
			gone.acquire();
			(void)involuntary_switches(); /* a system call, too */
			alone.push_back(cycles_in_a_row(lock));
		}
	}).join();
	other.join();
}

void measure_told(context &c, const std::vector<const row *> &rows)
{
	struct figures {
		series alone, told, ratio;
	};
	constexpr unsigned times = 20;
	std::map<std::string, figures> found;
	std::vector<cells> table;
	csv file(c.file("told.csv"),
		 {"lock", "alone_median", "alone_q1", "alone_q3", "told_median",
		  "told_q1", "told_q3", "ratio_median", "ratio_q1", "ratio_q3",
		  "rounds"});

	in_rounds("the first waiter told", c.opts.rounds, rows.size(),
		  [&](std::size_t i, unsigned) {
			  figures &f = found[rows[i]->name];
			  series alone, told;

			  tell(*rows[i]->make(2), times, alone, told);
			  if (told.empty())
				  return;
			  f.alone.push_back(median(alone));
			  f.told.push_back(median(told));
			  f.ratio.push_back(median(told) / median(alone));
		  });
	for (const auto &[lock, f] : found) {
		file.add(cells(lock)
				 .spread(f.alone, 1)
				 .spread(f.told, 1)
				 .spread(f.ratio, 2)
				 .of(f.ratio.size()));
		table.push_back(cells(lock)
					.summary(f.alone, 1)
					.summary(f.told, 1)
					.summary(f.ratio, 2));
		if (!is_peer(lock))
			c.found.bars.push_back(
				{lock + ", first waiter told: <= 1.1 x alone",
				 f.ratio, 1.1, true,
				 f.ratio.empty() ? "not measured" : ""});
	}
	c.out.heading("Locks that sleep: lock and unlock while the first "
		      "waiter was told, cycles");
	c.out.say(markdown({"lock", "alone", "told", "ratio"}, table));
}

/* -- Loads ---------------------------------------------------------------- */

/* A column of the family's table, and a load for each of its lines. */
void add_loads(const context &c, family &f, unsigned section, unsigned writers)
{
	f.columns.push_back(
		std::to_string(section) + " cycles" +
		(writers == 100 ? "" : ", " + std::to_string(writers) + " %"));
	for (const unsigned threads : {2u, 4 * c.cores()})
		for (const placement where :
		     {placement::own_core, placement::anywhere})
			for (const bool data : {false, true})
				f.loads.push_back({threads, section,
						   usual_think, where, writers,
						   data});
}

std::string in_words(const setting &s)
{
	return std::to_string(s.threads) + " threads, " +
	       (s.where == placement::own_core ? "pinned, " : "") +
	       (s.data ? "data, " : "") + std::to_string(s.section) +
	       " cycles, " + std::to_string(s.writers) + " % writes";
}

/* To the fastest of the peers that are asked for. */
series to_peer(const family &f, const by_row &found, const contended &mine)
{
	series best;

	for (const std::string &name : f.asked)
		if (median(found.at(name).rate) > median(best))
			best = found.at(name).rate;
	return ratios(mine.rate, best);
}

/* The quartiles do not overlap. */
bool exceeds(const series &a, const series &b)
{
	return quantile(a, 0.25) > quantile(b, 0.75);
}

/* Returns the bars missed under a load, after commas; empty: none. */
std::string missed(const by_row &found, const contended &mine, double rate,
		   const request &asked)
{
	std::string out;

	if (rate < asked.rate)
		out += ", rate";
	if (asked.limits_run && median(mine.runs) >= longest_run)
		out += ", run";
	for (const auto &[name, its] : found)
		if (is_peer(name) && exceeds(its.rate, mine.rate) &&
		    exceeds(its.fairness, mine.fairness))
			out += ", " + name + " is faster and fairer";
	return out;
}

/* The bars of a lock of klock's: the worst of the loads that each concerns. */
void judge(context &c, const family &f, const std::string &lock)
{
	for (const request &asked : f.requests) {
		series least;
		std::string worst;
		unsigned loads = 0, failed = 0;

		for (const setting &s : f.found_loads()) {
			const by_row &found = f.found.at(s);
			const contended &mine = found.at(lock);
			const series rate = to_peer(f, found, mine);

			if (!asked.concerns(s))
				continue;
			loads++;
			failed += !missed(found, mine, median(rate), asked)
					   .empty();
			if (least.empty() || median(rate) < median(least)) {
				least = rate;
				worst = in_words(s);
			}
		}
		if (!loads)
			continue; /* a smoke run */
		c.found.bars.push_back(
			{lock + ", " + asked.what + "; the slowest: " + worst,
			 least, asked.rate, false,
			 failed ? std::to_string(failed) + " of " +
					  std::to_string(loads) + " loads"
				: ""});
	}
}

std::string verdict(const family &f, const setting &s, const std::string &lock)
{
	const by_row &found = f.found.at(s);
	const contended &mine = found.at(lock);
	std::string out;

	for (const request &asked : f.requests)
		if (asked.concerns(s))
			out = missed(found, mine,
				     median(to_peer(f, found, mine)), asked);
	if (!f.is_asked(lock))
		return none;
	return out.empty() ? "met" : "missed: " + out.substr(2);
}

double milliseconds(const context &c, double cycles)
{
	return 1e3 * cycles / c.here.cycles_a_second;
}

void write(context &c, csv &file, const family &f)
{
	for (const setting &s : f.found_loads())
		for (const auto &[lock, found] : f.found.at(s))
			file.add(
				cells(lock)
					.of(s.threads)
					.of(s.where == placement::own_core)
					.of(s.data)
					.of(s.section)
					.of(s.writers)
					.spread(found.rate, 0)
					.spread(to_peer(f, f.found.at(s),
							found),
						2)
					.spread(found.fairness, 3)
					.of(median(found.runs), 0)
					.of(most(found.runs), 0)
					.of(milliseconds(c, found.longest_wait),
					    2)
					.of(name_of(s.apart))
					.of(found.ping_pong, 0)
					.of(verdict(f, s, lock))
					.of(found.rate.size()));
}

/* One load in a cell of the table; none: not found at this distance. */
std::string in_short(const context &c, const family &f, const setting &s,
		     const std::string &lock)
{
	const auto found = f.found.find(s);

	if (found == f.found.end() || found->second.at(lock).rate.empty())
		return none;
	const contended &mine = found->second.at(lock);
	return fixed(median(mine.rate) / 1e6, 2) + "; " +
	       fixed(median(to_peer(f, found->second, mine)), 2) + "; " +
	       fixed(median(mine.fairness), 2) + "; " +
	       fixed(median(mine.runs), 0) + " (" + fixed(most(mine.runs), 0) +
	       "); " + fixed(milliseconds(c, mine.longest_wait), 0);
}

/* The lines of the table whose loads are like the i-th, at a distance. */
void add_lines(const context &c, const family &f, std::size_t i, distance apart,
	       std::vector<cells> &table)
{
	const std::size_t lines = f.loads.size() / f.columns.size();
	const setting &first = f.loads[i];

	for (const row *r : f.rows) {
		cells line(r->name);
		bool measured = false;

		line.of(first.threads)
			.of(first.where == placement::own_core ? "yes" : "no")
			.of(first.data ? "yes" : "no")
			.of(name_of(apart));
		for (std::size_t load = i; load < f.loads.size();
		     load += lines) {
			setting s = f.loads[load];

			s.apart = apart;
			line.of(in_short(c, f, s, r->name));
			measured |= line.back() != none;
		}
		if (measured)
			table.push_back(line);
	}
}

void print(context &c, const family &f)
{
	const std::size_t lines = f.loads.size() / f.columns.size();
	std::vector<std::string> heads = {"lock", "threads", "pinned", "data",
					  "cores"};
	std::vector<cells> table;
	std::string peers;

	for (const std::string &name : f.asked)
		peers += (peers.empty() ? "" : " or ") + name;
	heads.insert(heads.end(), f.columns.begin(), f.columns.end());
	for (std::size_t i = 0; i < lines; i++)
		for (const distance apart :
		     {distance::near, distance::far, distance::moved})
			add_lines(c, f, i, apart, table);
	c.out.heading(f.name + " under load: M/s; to " + peers +
		      "; Jain's index; longest run (most); longest wait, ms");
	c.out.say(markdown(heads, table));
}

} // namespace

void measure_sleeping(context &c)
{
	const unsigned usual = c.stretch;
	family mutexes("mutex", {"pthread_mutex"}, rows_for(4 * c.cores()));
	family shared("shared_mutex", {"pthread_rwlock", "std::shared_mutex"},
		      shared_rows_for(4 * c.cores()));

	mutexes.requests = {
		{"2 threads, 50 cycles: rate >= pthread_mutex", 1.0, false,
		 [](const setting &s) {
			 return s.threads == 2 && s.section == 50;
		 }},
		{"2 threads, 0 and 500 cycles: rate >= pthread_mutex", 1.0,
		 false,
		 [](const setting &s) {
			 return s.threads == 2 && s.section != 50;
		 }},
		{"4 threads a core: rate >= pthread_mutex, no run of 10000",
		 1.0, true, [](const setting &s) { return s.threads != 2; }}};
	shared.requests = {
		{"0, 10, 50 % writes: rate >= 1.1 x pthread_rwlock, "
		 "std::shared_mutex",
		 1.1, false, [](const setting &s) { return s.writers != 1; }},
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
		mutexes.watched = 5;
		shared.rounds = c.opts.rounds / 3;
	}

	c.stretch = 20; /* 40 ms: ten slices */
	measure_turns(c);
	std::vector<const row *> tellable = mutexes.rows;
	std::erase_if(tellable, [](auto *r) { return hands_over(r->name); });
	measure_told(c, tellable);
	csv file(c.file("sleeping.csv"),
		 {"lock",	 "threads",	     "pinned",
		  "data",	 "section_cycles",   "writers",
		  "rate_median", "rate_q1",	     "rate_q3",
		  "to_peer",	 "to_peer_q1",	     "to_peer_q3",
		  "jain",	 "jain_q1",	     "jain_q3",
		  "longest_run", "longest_run_most", "longest_wait_ms",
		  "distance",	 "ping_pong_cycles", "verdict",
		  "rounds"});
	for (family *f : {&mutexes, &shared}) {
		f->found = run_rounds(c, {.title = f->name + " under load",
					  .rows = f->rows,
					  .settings = f->loads,
					  .rounds = f->rounds,
					  .watched = f->watched});
		write(c, file, *f);
		print(c, *f);
		for (const row *r : f->rows)
			if (f->is_asked(r->name))
				judge(c, *f, r->name);
	}
	c.stretch = usual;
}

} // namespace bench
