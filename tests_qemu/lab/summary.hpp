/* SPDX-License-Identifier: MIT */
/*
 * summary - the run on one page of the screen, for a photograph: its words, the
 * machine, a table of the locks, the verdict
 *
 * Where boot::summary_room() says that there is such a page. The table has as
 * many columns as fit beside each other; of more rows than fit, the last.
 */
#pragma once

#include <klock/types.hpp>

namespace lab {

/* A report begins: no row is there yet. */
void clear_summary();

/* A row, as report.hpp's note_row() is told. */
void summarise(const char *lock, bool is_right);

/* And what it measured, if it did. */
void summarise_figures(klock::u32 cpus, klock::u64 per_second,
		       klock::u32 jain_permille);

/* All of it. Called by CPU 0, no other at work. */
void print_summary(const char *verdict);

} // namespace lab
