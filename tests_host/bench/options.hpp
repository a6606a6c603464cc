/* SPDX-License-Identifier: MIT */
/*
 * options - what to measure, how long, and where the files go
 */
#pragma once

#include "machine.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace bench {

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

/* Ends the program with a usage message where argv is wrong. */
options parse(int argc, char **argv);

} // namespace bench
