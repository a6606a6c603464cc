/* SPDX-License-Identifier: MIT */
/*
 * topology - run=topology: on what all else is measured
 */
#pragma once

#include "options.hpp"

namespace lab {

/* A row a CPU; returns the exit status. */
int run_topology(const options &o);

} // namespace lab
