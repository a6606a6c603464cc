/* SPDX-License-Identifier: MIT */
/*
 * workers - processes that share one exploration
 *
 * Each has a stack of graphs of its own. A worker without work gets the lowest
 * graph of another's stack, which usually leads to the most executions, through
 * memory that all share. The graphs of a stack do not depend on each other, so
 * counts are sums.
 */
#pragma once

#include "graph.hpp"
#include "operations.hpp"

#include <model/options.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace model {

inline constexpr unsigned most_workers = 64;

struct pool {
	/* One worker's progress, which all can read. */
	struct alignas(64) tally {
		std::atomic<u64> complete, explored, blocked, panicked, ran,
			left_out, turns_left_out, in_vain;
		std::atomic<double> share;
		/* Its operations; the names of their files are all workers'. */
		unsigned many;
		operation_table::one used[512];
	};

	/* Memory of its own, for so many. */
	static pool *make(unsigned workers);
	void unmake();

	/* Gets a graph for a worker without work; false: all is done. */
	bool take(graph &into);

	/* Whether somebody is waiting for a graph; give() then takes one. */
	bool hungry() const
	{
		return idle.load(std::memory_order_relaxed) >
		       given.load(std::memory_order_relaxed);
	}
	bool give(const graph &);

	u64 executions() const;

	unsigned workers = 0;
	std::atomic<bool> stop; /* all must end: a worker found something */
	std::atomic<bool> over; /* the limit of executions was reached */
	tally of[most_workers];

      private:
	struct slot {
		bool full;
		u8 bytes[256 * 1024];
	};

	void lock();
	void unlock() { held.clear(std::memory_order_release); }

	std::atomic_flag held;
	std::atomic<unsigned> idle, given;
	slot slots[most_workers];
};

/*
 * progress - shows at a terminal how far a long exploration is
 */

/* "1,200,000 executions, 350,000 per second, about 40 %, 12 s left" */
std::string progress_text(u64 executions, double seconds, double share);

/* A line on stderr, if that is a terminal, one second after the beginning. */
struct progress {
	~progress();

	/* share: the part of all that is done, by estimate. */
	void at(u64 executions, double share);

      private:
	using clock = std::chrono::steady_clock;

	const clock::time_point start = clock::now();
	clock::time_point last = start;
	bool shown = false;
};

} // namespace model
