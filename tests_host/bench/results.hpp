/* SPDX-License-Identifier: MIT */
/*
 * results - what one run of the bench found, for tables, bars and CSV files
 */
#pragma once

#include "statistics.hpp"

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
	std::map<std::string, series> folder;
	/* By setting, by row. */
	std::map<setting, std::map<std::string, contended>> loads;
	/* The load of two threads that do nothing else. */
	std::map<std::string, contended> handoff;
	/* From other programs of the bench, if they ran before it. */
	std::map<std::string, double> code_bytes, google;
};

} // namespace bench
