/* SPDX-License-Identifier: MIT */
/*
 * counts_run - run=counts: locks that count how they are waited for
 */
#pragma once

#include "options.hpp"

namespace lab {

/* The exit status: whether every acquisition was counted. */
int run_counts(const options &o);

} // namespace lab
