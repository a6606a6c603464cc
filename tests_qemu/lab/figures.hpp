/* SPDX-License-Identifier: MIT */
/*
 * figures - a measurement's row: table, comma-separated values, KTAP
 *
 * CSV: lines that begin with '#' are comments; the first field says what a line
 * is. runner/plots.py reads this; what each field is: README.md.
 *
 *	row,<the fields that the line "head," names>
 *	hist,<lock>,<cpus>,<from ns>,<to ns>,<handoffs>
 */
#pragma once

#include "options.hpp"

#include <klock/selftest/measure.hpp>
#include <klock/selftest/shared_measure.hpp>

namespace lab {

void print_figures_head(const options &o);

/*
 * Counts the row, too; f is not changed. also_wrong: what the figures do not
 * show, or null.
 */
void print_figures(const options &o, const klock::selftest::figures &f,
		   const char *also_wrong);

void print_shared_head(const options &o);

/* As print_figures(). */
void print_shared_figures(const options &o,
			  const klock::selftest::shared_figures &f,
			  const char *also_wrong);

} // namespace lab
