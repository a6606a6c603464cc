/* SPDX-License-Identifier: MIT */
/*
 * experiment - run=measure and run=backoff
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Each lock asked for, on each number of CPUs; returns the exit status. */
int run_measure(const options &o);

/* Ticket locks that wait plainly, by the queue's length, exponentially. */
int run_backoff(const options &o);

} // namespace lab
