/* SPDX-License-Identifier: MIT */
/*
 * shared_figures - the row of a lock that readers share, as figures.hpp's: of
 * readers and of writers a handoff and the longest wait
 */
#pragma once

#include "options.hpp"

#include <klock/selftest/shared_measure.hpp>

namespace lab {

void print_shared_head(const options &o);

/* As print_figures(). */
void print_shared_figures(const options &o,
			  const klock::selftest::shared_figures &f,
			  const char *also_wrong);

} // namespace lab
