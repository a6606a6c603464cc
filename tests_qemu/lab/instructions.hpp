/* SPDX-License-Identifier: MIT */
/*
 * instructions - what taking and leaving a lock costs when nobody else does
 */
#pragma once

#include "options.hpp"

namespace lab {

/*
 * Cycles of lock() and unlock() by one CPU alone, for each lock asked for; the
 * exit status. Under QEMU -icount shift=0 a cycle of the guest's clock is an
 * instruction, and the figures are the same on every run.
 */
int run_instructions(const options &o);

} // namespace lab
