/* SPDX-License-Identifier: MIT */
/*
 * storm_run - run=storm, run=busted_storm and run=stuck
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Every lock asked for, under faults; returns the exit status. */
int run_storm(const options &o);

/* Every mutant that can show here must, under faults, too. */
int run_busted_storm(const options &o);

/* A lock that a holder keeps: returns only if nobody notices. */
int run_stuck(const options &o);

} // namespace lab
