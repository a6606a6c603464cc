/* SPDX-License-Identifier: MIT */
/*
 * progress - how far a long exploration is, for who waits at a terminal
 */
#pragma once

#include <model/options.hpp>

#include <chrono>
#include <string>

namespace model {

/* "1,200,000 executions, 350,000 per second, about 40 %, 12 s left" */
std::string progress_text(u64 executions, double seconds, double share);

/* A line on stderr, if that is a terminal, a second after it began. */
struct progress {
	~progress();

	/* So many executions, and this part of all, by estimate. */
	void at(u64 executions, double share);

      private:
	using clock = std::chrono::steady_clock;

	const clock::time_point start = clock::now();
	clock::time_point last = start;
	bool shown = false;
};

} // namespace model
