/* SPDX-License-Identifier: MIT */
/*
 * bench - experiments: each runs trials of its rows under its settings, prints
 * what they found and writes it
 */
#pragma once

#include "../../lib/arch/hosted/klock/host_parking.hpp"
#include "trial.hpp"

#include <klock/mutex.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bench {

static_assert(
	klock::host::goes_on,
	"-I lib/unparked comes before -I lib: else the woken thread waits "
	"for its waker");

/*
 * The inner lock of klock's that sleep. A kernel's holder has interrupts off; a
 * process's is preempted, and so who waits for it yields in the hosted port,
 * and here.
 */
struct yielding_lock : klock::detail::sleepers_lock {
	void lock()
	{
		for (u32 i = 1; !try_lock(); i++)
			i % 128 ? klock::cpu_relax() : (void)sched_yield();
	}
};

/* The peers of sleeping locks; those that readers share come last. */
inline const std::vector<std::string> sleeping_peers = {
	"pthread_mutex",  "pthread_mutex PI", "std::atomic wait",
	"absl Mutex",	  "nsync_mu",	      "vsync mutex",
	"pthread_rwlock", "std::shared_mutex"};

/* The floors that a read of a lock that readers share is compared with. */
const std::vector<row> &shared_floors();

/* Cycles between two critical sections of a thread, on average. */
inline constexpr unsigned usual_think = 50;

/* A limit that an experiment sets itself, and a ratio round by round. */
struct bar {
	std::string what;
	series ratio;
	double limit;
	bool at_most;
	std::string missed; /* why, whatever the ratio is */
};

struct results {
	/* Cycles for lock and unlock, by row. */
	std::map<std::string, series> uncontended;
	/* Reads and writes of shared locks; the reads include the floors. */
	std::map<std::string, series> reads, writes;
	/* Sequences and barriers: cycles, by what is done. */
	std::map<std::string, series> sequences;
	/* The figures under load, and of two threads that do nothing else. */
	by_setting loads, handoff;
	/* The bars of locks that sleep. */
	std::vector<bar> bars;
};

/*
 * options - what to measure, how long, and where the files go
 */

struct options {
	std::filesystem::path out = "bench-results";
	unsigned cores = 0; /* 0: all that we may use */
	unsigned rounds = 25;
	std::chrono::microseconds trial{2000};
	bool smoke = false; /* every experiment, as short as can be */

	/* Rounds of trials that are slow and need not be exact. */
	unsigned few_rounds() const { return rounds < 5 ? 1 : rounds / 5; }
};

struct context {
	const options &opts;
	const machine &here;
	report &out;
	workers &threads;
	results found;
	/* A handoff on one line, when measure_distance() was called last. */
	double handoff_cycles = 0;
	/* Trials on cores of their own; those that never were undisturbed. */
	unsigned trials = 0, disturbed = 0;
	/* Blocks of trials; those in which the cores moved in every try. */
	unsigned blocks = 0, moved = 0;
	/* The factor by which a trial is longer if threads share cores. */
	unsigned stretch = 50;

	unsigned cores() const { return opts.cores ? opts.cores : here.cores; }
	/*
	 * How long a trial is: where cores are shared, several turns of the
	 * scheduler.
	 */
	std::chrono::microseconds trial(bool cores_are_shared) const
	{
		return cores_are_shared ? stretch * opts.trial : opts.trial;
	}
	/* Returns the path of a file of results. */
	std::filesystem::path file(const char *name) const
	{
		return opts.out / name;
	}
};

/* Lock and unlock of one thread, beside bare locked instructions. */
void measure_sizes(context &);
void measure_uncontended(context &);
/* Throughput and fairness: 2 threads, all cores, 4 threads a core. */
void measure_contended(context &);
/* Locks that sleep: turns to and fro, first waiters told, loads. */
void measure_sleeping(context &);
void measure_turns(context &);
/*
 * More threads than cores: 1, 2, 4 and 8 threads a core, locks that are for it
 * and some to compare them with.
 */
void measure_crowded(context &);
/* The time of a handoff from one CPU to another, beside */
void measure_handoff(context &);
/* Sequences and barriers, beside Concurrency Kit's. */
void measure_sequences(context &);
/* Locks that readers share: alone, and at four shares of writers. */
void measure_shared(context &);
void measure_shared_alone(context &);
/* Throughput of 1 .. all cores. */
void measure_scaling(context &);

/*
 * Prints the project's own limits on these locks, and whether the measured
 * figures meet them.
 */
enum judged : unsigned { exclusive = 1, sleeping = 2, shared = 4 };
void print_bars(context &, unsigned of);

} // namespace bench
