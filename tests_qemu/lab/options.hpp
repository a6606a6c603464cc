/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 *
 *	mode=table lock=mcs_lock cpus=4 acquisitions=20000
 *
 * Words are name=value, in any order. A word that is not known, or a value that
 * makes no sense, ends the run with the list of the right ones: nothing is
 * guessed.
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

using klock::u32;

/* What is printed: a table for people, KTAP for a test runner. */
enum class mode : u32 { table, tap };

/* What is run. */
enum class job : u32 {
	locks,	/* every lock of the list must pass the torture */
	busted, /* every busted lock that this machine can find must fail */
	panic,	/* the rest is for the runner's own tests: ends that it */
	fault,	/* must tell apart */
	fail,
	hang,
	reset,
};

struct options {
	mode output = mode::table;
	job run = job::locks;
	const char *lock = "all"; /* a name, or all */
	u32 cpus = 0;		  /* that contend; 0: all there are */
	u32 acquisitions = 20000; /* of free contention, a lock */
	u32 convoys = 20;	  /* rounds of forced order, a lock */
	u32 section = 0;	  /* cpu_relax() between two of its stores */
	u32 outside = 8;	  /* most cpu_relax() between two sections */
	u32 try_one_in = 8;	  /* attempts that are try_lock(); 0: none */
	u32 parallel = 0;	  /* 1: vCPUs truly run at once */
	u32 seed = 1;
};

/* Reads the kernel command line; prints what is wrong and returns false. */
[[nodiscard]] bool read_options(options &into);

/* Whether the option lock= asks for the lock of this name. */
[[nodiscard]] bool asks_for(const options &o, const char *name);

} // namespace lab
