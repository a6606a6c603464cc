/* SPDX-License-Identifier: MIT */
/*
 * pairs - run=pairs: what it costs to hand a line from one CPU to another
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Every two CPUs; returns the exit status. */
int run_pairs(const options &o);

} // namespace lab
