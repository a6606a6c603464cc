/* SPDX-License-Identifier: MIT */
/*
 * report - what the lab prints: a table, or KTAP
 *
 * KTAP: the kernel's form of the Test Anything Protocol, version 1. Every line
 * that is not part of it begins with "# ".
 */
#pragma once

#include "options.hpp"

#include <klock/selftest/result.hpp>

namespace lab {

using klock::selftest::result;

/* Begins a report of so many rows on so many CPUs. */
void begin_report(const options &o, unsigned rows);

/* What runs now, for those who wait: gone when its row comes. */
void say_running(const options &o, const char *lock);

/* One lock's row. */
void print_row(const options &o, const result &r);

/* One busted lock's row: it is wrong if nothing was found. */
void print_busted_row(const options &o, const char *lock, const char *mistake,
		      const char *found);

/* A row of the list that this machine cannot run, and why. */
void print_skipped(const options &o, const char *lock, const char *why);

/* PASS, or FAIL with the reason; returns the exit status. */
int end_report();

} // namespace lab
