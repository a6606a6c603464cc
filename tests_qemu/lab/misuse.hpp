/* SPDX-License-Identifier: MIT */
/*
 * misuse - run=misuse: one misuse of a checked lock, on real CPUs
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Does not return unless the misuse goes unnoticed; then the exit status. */
int run_misuse(const options &o);

} // namespace lab
