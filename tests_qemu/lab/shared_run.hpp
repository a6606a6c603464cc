/* SPDX-License-Identifier: MIT */
/*
 * shared_run - run=shared, run=shared_storm and run=busted_shared
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Every lock asked for that readers share; returns the exit status. */
int run_shared(const options &o);

/* The same, with handlers that read and write, and NMIs that try. */
int run_shared_storm(const options &o);

/* Every such lock that is wrong, and can show here, must. */
int run_busted_shared(const options &o);

} // namespace lab
