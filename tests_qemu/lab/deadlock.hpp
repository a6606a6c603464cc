/* SPDX-License-Identifier: MIT */
/*
 * deadlock - run=deadlock: one bug over several locks, on real CPUs
 */
#pragma once

#include "options.hpp"

namespace lab {

/* Does not return unless the bug goes unnoticed; then the exit status. */
int run_deadlock(const options &o);

} // namespace lab
