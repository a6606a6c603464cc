/* SPDX-License-Identifier: MIT */
/*
 * options - what the kernel command line asks of the lab
 *
 *	run=measure lock=mcs_lock,tas_lock cpus=1,2,4 section=500 seconds=2
 *
 * Words are name=value, in any order, each at most once. The first that is
 * wrong ends the run by one line that says why and what may be right: nothing
 * is guessed. The word help alone prints the list of all.
 */
#pragma once

#include <boot/cpus.hpp>
#include <klock/selftest/measure.hpp>
#include <klock/types.hpp>

namespace lab {

using klock::u32;
using klock::u64;
using klock::selftest::range;

/* A table for people, comma-separated values for a script, or KTAP. */
enum class mode : u32 { table, csv, tap };

/* What is run. */
enum class job : u32 {
	measure,       /* throughput, handoff, fairness of each lock */
	locks,	       /* every lock of the list must pass the torture */
	storm,	       /* the same under interrupts, NMIs, stalls */
	sequences,     /* sequences, once, barrier under them; mutants fail */
	deadline,      /* a holder that stays: the others give up in time */
	sleep,	       /* locks that sleep, woken by handlers, too */
	busted,	       /* every mutant that this machine can find must fail */
	busted_storm,  /* the same under interrupts, NMIs, stalls */
	shared,	       /* locks that readers share must pass theirs */
	shared_storm,  /* the same; handlers read and write, NMIs try */
	busted_shared, /* every such mutant must fail */
	backoff,       /* what back-off does to a ticket lock */
	instructions,  /* of each lock, one CPU alone */
	pairs,	       /* one handoff between every two CPUs */
	topology,      /* which CPUs share what */
	misuse,	       /* one misuse of a checked lock, which must be named */
	deadlock,      /* one deadlock of several locks, the same */
	counts,	       /* how locks are waited for: a table, and its sum */
	stuck,	     /* a lock that is not released: the watchdog must say so */
	panic,	     /* the rest is for the runner's own tests: ends that it */
	fault,	     /* must tell apart */
	print_fault, /* inside the console's own critical section */
	fail,
	hang,
	reset,
};

/* What checked locks name; run=misuse does one, run=deadlock one of any. */
enum class misuse : u32 {
	recursion,
	free_unlock,
	foreign_unlock,
	crowd,
	nmi_crowd,
	interrupts_on,
	nmi_lock,
	number,
	interrupted_waiter,
	read_recursion,
	upgrade,
	reading_handler,
	two_orders, /* from here on of several locks, run=deadlock alone */
	three_cpus,
	two_queues,
	handler_order,
	console_in_panic,
	sleeps,
	shootdown,
	served, /* the same, and no deadlock: lock(serve) */
};

/*
 * What a storm is made of; a mask. A run in which a part did not happen was no
 * storm, whatever else it shows.
 */
enum storm_part : u32 {
	part_handler = 1,  /* timer or IPI handlers took the lock */
	part_nmi = 2,	   /* NMI handlers took the lock */
	part_halt = 4,	   /* a holder halted */
	part_leave = 8,	   /* a CPU left and came back */
	part_nest = 16,	   /* another lock was taken inside */
	part_handoff = 32, /* the lock went from CPU to CPU */
	part_update = 64,  /* critical sections write; nothing without them */
};

/* CPUs that the lab's locks are made for: boot's most. */
inline constexpr unsigned most_cpus = boot::max_cpus;

inline constexpr unsigned most_counts = 16;

struct options {
	mode output = mode::table;
	job run = job::measure;
	misuse what = misuse::recursion;
	const char *lock = "all";   /* names with commas, or all */
	u32 cpus[most_counts] = {}; /* that contend, one run after another */
	u32 counts = 0;		    /* how many of them were given */
	range section = {500, 500}; /* cycles inside */
	range think = {0, 2000};    /* cycles between two critical sections */
	u32 seconds = 0;	    /* how long; 0: acquisitions count */
	u32 acquisitions = 0;	    /* of all CPUs; 0: seconds, or 20000 */
	u32 writers = 100; /* of 100 sections; less: locks that share */
	u32 irq = 0;	   /* timer interrupts per second, a CPU */
	u32 seed = 1;
	u32 detail = 0;	      /* 1: histograms in the table */
	u32 convoys = 20;     /* torture: rounds of forced order */
	u32 pauses = 0;	      /* torture: inside, between stores */
	u32 rest = 8;	      /* torture: between two sections, at most */
	u32 try_one_in = 8;   /* torture: one in so many tries */
	u32 parallel = 0;     /* 1: vCPUs truly run at once */
	u32 patience = 10000; /* ms without progress: stuck */
	u32 without = 0;      /* storm: parts left out, and then missed */
	bool help = false;    /* only the list of the words is wanted */
};

/* Reads the kernel command line; prints what is wrong and returns false. */
[[nodiscard]] bool read_options(options &into);

/* The list of the words: the payload's exit status. */
int print_help();

/* Whether the option lock= asks for the lock of this name. */
[[nodiscard]] bool asks_for(const options &o, const char *name);

/* The same of those that readers share. */
[[nodiscard]] unsigned shared_locks_asked_for(const options &o);

/* How many locks of the list it asks for. */
[[nodiscard]] unsigned locks_asked_for(const options &o);

/* The name of a value, as it stands on the command line. */
[[nodiscard]] const char *name_of(misuse what);

} // namespace lab
