/* SPDX-License-Identifier: MIT */
/*
 * jobs - the function of each value of run=; each returns the exit status
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Each lock asked for, on each number of CPUs; returns the exit status. */
int run_measure(const options &o);

/* Ticket locks that wait plainly, by the queue's length, exponentially. */
int run_backoff(const options &o);

/* Every lock asked for, under faults; returns the exit status. */
int run_storm(const options &o);

/* Every mutant that can show here must, under faults, too. */
int run_busted_storm(const options &o);

/* A lock that a holder keeps: returns only if nobody notices. */
int run_stuck(const options &o);

/* Every lock asked for that readers share; returns the exit status. */
int run_shared(const options &o);

/* As run_shared(), with handlers that read and write, and NMIs that try. */
int run_shared_storm(const options &o);

/* Every such lock that is wrong, and can show here, must. */
int run_busted_shared(const options &o);

/*
 * Sequences, once and barrier under faults, and wrong ones that must be found;
 * returns the exit status.
 */
int run_sequences(const options &o);

/*
 * Each lock of the list that can be given up, while its holder does not leave;
 * returns the exit status.
 */
int run_deadline(const options &o);

/* Locks whose waiters sleep; wrong ones are found. The exit status. */
int run_sleep(const options &o);

/* The exit status: whether every acquisition was counted. */
int run_counts(const options &o);

/* Every two CPUs; returns the exit status. */
int run_pairs(const options &o);

/* A row a CPU; returns the exit status. */
int run_topology(const options &o);

/*
 * Cycles of lock() and unlock() by one CPU alone, for each lock asked for; the
 * exit status. Under QEMU -icount shift=0 a cycle of the guest's clock is an
 * instruction, and the figures are the same on every run.
 */
int run_instructions(const options &o);

/* Does not return unless the misuse goes unnoticed; then the exit status. */
int run_misuse(const options &o);

/* Does not return unless the bug goes unnoticed; then the exit status. */
int run_deadlock(const options &o);

/* Ends as the job says; returns only from job::fail, with the exit status. */
int end_badly(job how);

} // namespace lab
