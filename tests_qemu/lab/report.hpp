/* SPDX-License-Identifier: MIT */
/*
 * report - rows and the verdict: a table, or KTAP
 *
 * KTAP: the kernel's form of the Test Anything Protocol, version 1. Every line
 * that is not part of it begins with "# ".
 */
#pragma once

#include "options.hpp"

#include <klock/selftest/measure.hpp>
#include <klock/selftest/parts.hpp>
#include <klock/selftest/shared_measure.hpp>
#include <klock/types.hpp>

namespace lab {

using klock::selftest::result;

/*
 * Begins a report of so many rows: as many as were asked for, whether they can
 * be run or not. The run prints the table's head.
 */
void begin_report(const options &o, unsigned rows);

/*
 * How often a mutant may pass before it counts as not found. The one that is
 * hardest to find, unfenced Peterson on AArch64, shows in one run of three at
 * its best rest (attempts::rest), in one storm of ten.
 */
inline constexpr unsigned busted_runs = 200;
inline constexpr unsigned busted_storm_runs = 200;
/* Attempts for each run that shows nothing (control.hpp). */
inline constexpr unsigned attempts_a_run = 3;

/*
 * "# plan: ...", what a row is at most: the runner knows by it how long a guest
 * that says nothing may only be slow. begin_report() prints it.
 */
void print_plan(const options &o, unsigned rows);

/* How wide a table's first column is: as the longest of the locks asked for. */
[[nodiscard]] unsigned name_width(const options &o);

/* Shows a waiting reader what runs now; it goes when its row comes. */
void say_running(const options &o, const char *lock);

/* Counts a row, whoever prints it: wrong: what is, or a null pointer. */
void note_row(const char *lock, const char *wrong);

/* In KTAP, the line of the row that was noted last. */
void print_verdict(const options &o, const char *lock, const char *wrong);

/* A row of the torture; its head. missed: what was to come and did not. */
void print_torture_head(const options &o);
void print_torture(const options &o, const result &r,
		   const char *missed = nullptr);

/* One mutant's row: it is wrong if nothing was found. */
void print_busted_row(const options &o, const char *lock, const char *mistake,
		      const char *found);

/* A row that this machine, or this lock, cannot run, and why: counts as none.
 */
void print_skipped(const options &o, const char *lock, const char *why);

/*
 * The verdict: the payload's exit status. It has passed if no row was wrong,
 * all rows that begin_report() announced were printed, and one of them was run.
 */
int end_report();

struct totals {
	klock::u64 acquisitions = 0;
	klock::u64 wraps = 0;	   /* of ticket counters, about */
	klock::u64 interrupts = 0; /* timer, IPI; without the watchdog's */
	klock::u64 nmis = 0;
	klock::u64 faults = 0; /* stalls, halts, CPUs that left */
	klock::u64 errors = 0;
};

inline constinit totals all_totals;

/*
 * Counts one lock's critical sections, and how often they took its tickets
 * round: locks whose room is a power of two of at most 16 bits count that far.
 */
void add_sections(klock::u64 sections, klock::u64 capacity);

/* "# totals: acquisitions=... wraps=..." */
void print_totals();

/*
 * -- A measurement's row: table, comma-separated values, KTAP (figures.cpp) --
 *
 * CSV: lines that begin with '#' are comments; the first field says what a line
 * is. runner/plots.py reads this; what each field is: README.md.
 *
 *	row,<the fields that the line "head," names>
 *	hist,<lock>,<cpus>,<from ns>,<to ns>,<handoffs>
 */

void print_figures_head(const options &o);

/*
 * Counts the row, too; f is not changed. also_wrong: what the figures do not
 * show, or null.
 */
void print_figures(const options &o, const klock::selftest::figures &f,
		   const char *also_wrong);

void print_shared_head(const options &o);

/* As print_figures(). */
void print_shared_figures(const options &o,
			  const klock::selftest::shared_figures &f,
			  const char *also_wrong);

} // namespace lab
