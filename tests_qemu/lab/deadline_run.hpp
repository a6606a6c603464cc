/* SPDX-License-Identifier: MIT */
/*
 * deadline_run - run=deadline
 */
#pragma once

#include "options.hpp"

namespace lab {

/*
 * Each lock of the list that can be given up, while its holder does not leave;
 * returns the exit status.
 */
int run_deadline(const options &o);

} // namespace lab
