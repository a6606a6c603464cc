/* SPDX-License-Identifier: MIT */
/*
 * bench - experiments: each measures one thing over all rows, prints and writes
 * it
 *
 * All are interleaved: every round visits every row once, in an order that
 * differs from round to round, so that a machine which slows down for a while
 * slows all rows down.
 */
#pragma once

#include "rows.hpp"
#include "report.hpp"
#include "machine.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace bench {

/* A lock under a load, one figure a round. */
struct contended {
	series rate;	   /* acquisitions per second, all threads */
	series min_to_max; /* of the threads' shares */
	series fairness;   /* Jain's */
	/* From the rounds that watch: */
	series watched_rate;
	series handoffs; /* share of critical sections after another thread's */
	double max_consecutive = 0;
	double longest_wait = 0; /* cycles */
};

/* What a trial was made of. */
struct setting {
	unsigned threads;
	unsigned section; /* cycles */
	unsigned think;	  /* cycles, on average */

	auto operator<=>(const setting &) const = default;
};

struct results {
	/* Cycles for lock and unlock, by row. */
	std::map<std::string, series> uncontended;
	/* Of locks that readers share; the floors are among the reads. */
	std::map<std::string, series> reads, writes;
	/* Sequences and barriers: cycles, by what is done. */
	std::map<std::string, series> sequences;
	/* By setting, by row. */
	std::map<setting, std::map<std::string, contended>> loads;
	/* The load of two threads that do nothing else. */
	std::map<std::string, contended> handoff;
	/* From other programs of the bench, if they ran before it. */
	std::map<std::string, double> code_bytes;
};

/*
 * options - what to measure, how long, and where the files go
 */

struct options {
	std::filesystem::path out = "bench-results";
	unsigned cores = 0; /* 0: all that we may use */
	unsigned rounds = 25;
	std::chrono::microseconds trial{2000};
	bool scaling_only = false;
	bool smoke = false;   /* every experiment, as short as can be */
	bool shared = false;  /* only what readers share */
	bool crowded = false; /* only more threads than cores */
	bool list = false; /* print klock's rows, or the shared ones, and end */

	/* Rounds of trials that are slow and need not be exact. */
	unsigned few_rounds() const { return rounds < 5 ? 1 : rounds / 5; }
};

/*
 * experiments - each measures one thing over all rows, prints and writes it
 *
 * All are interleaved: every round visits every row once, in an order that
 * differs from round to round, so that a machine which slows down for a while
 * slows all rows down.
 */

struct context {
	const options &opts;
	const machine &here;
	report &out;
	workers &threads;
	results found;
	/* What a handoff takes on one line, at the last look. */
	double handoff_cycles = 0;
	/* Trials on cores of their own; those that never were undisturbed. */
	unsigned trials = 0, disturbed = 0;
	/* Where threads share cores, a trial is so many times as long. */
	unsigned stretch = 50;

	unsigned cores() const { return opts.cores ? opts.cores : here.cores; }
	/*
	 * How long a trial of so many threads is: where cores are shared,
	 * several turns of the scheduler.
	 */
	std::chrono::microseconds trial(unsigned trial_threads) const
	{
		return trial_threads > here.cores ? stretch * opts.trial
						  : opts.trial;
	}
	/* Where a file of results goes. */
	std::filesystem::path file(const char *name) const
	{
		return opts.out / name;
	}
};

/* Lock and unlock of one thread, beside bare locked instructions. */
void measure_uncontended(context &);
/* Throughput and fairness: 2 threads, all cores, 4 threads a core. */
void measure_contended(context &);
/*
 * More threads than cores: 1, 2, 4 and 8 threads a core, locks that are for it
 * and some to compare them with. Tables that a README can take as they are.
 */
void measure_crowded(context &);
/*
 * How long a handoff takes here and now, at least: what back-off is set by.
 * A virtual machine's cores move: two hyper-threads of one core at one time,
 * two ends of the chip at another.
 */
double calibrate_handoff(context &);
/* From one CPU to the other, beside a ping-pong on one line. */
void measure_handoff(context &);
/* Sequences and barriers, beside Concurrency Kit's. */
void measure_sequences(context &);
/* Locks that readers share: alone, and at four shares of writers. */
void measure_shared(context &);
/* Throughput of 1 .. all cores. */
void measure_scaling(context &);

/* What code.py found before, if it ran. */
void read_other_programs(context &);
/* One line per lock: ratios of all experiments. */
void print_summary(context &);
/* What the project has set itself, and whether it is met. */
void print_bars(context &);
/* Of those the ones for locks that readers share. */
void print_shared_bars(context &);

/* -- What they share ----------------------------------------------------- */

/* 0 .. n - 1 in an order that differs from round to round. */
std::vector<std::size_t> shuffled(std::size_t n, unsigned round);

/*
 * One trial, and again if another process took a core away meanwhile, up to a
 * limit: then it stays as it is, and false is returned. Where threads share
 * cores there is one try.
 */
bool run_undisturbed(context &, unsigned threads, const workers::job &);

/* One trial under the setting; all of its figures go into `to`. */
enum class watch { no, yes };
void run_trial(context &, const row &, const setting &, watch, contended &to);

/*
 * Rounds of trials of all rows that can serve so many threads, or of those
 * named; progress is shown as `title`.
 */
std::map<std::string, contended>
run_rounds(context &, const setting &, unsigned rounds, unsigned watched_rounds,
	   const std::string &title, const std::vector<std::string> &only = {});

} // namespace bench
