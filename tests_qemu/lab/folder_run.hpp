/* SPDX-License-Identifier: MIT */
/*
 * folder_run - run=folder
 */
#pragma once

#include "options.hpp"

namespace lab {

/*
 * Sequences, once and barrier under faults, and wrong ones that must be found;
 * returns the exit status.
 */
int run_folder(const options &o);

} // namespace lab
