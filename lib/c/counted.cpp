/* SPDX-License-Identifier: MIT */
#include <klock/c_counted_functions.hpp>
#include <klock/print_counts.hpp>

KLOCK_COUNTED_TICKETS(KLOCK_C_COUNTED_KIND, )
KLOCK_COUNTED_TASES(KLOCK_C_COUNTED_KIND, )
KLOCK_COUNTED_READERS(KLOCK_C_COUNTED_KIND, )

void klock_print_counts(void (*put)(const char *line, void *with), void *with)
{
	klock::print_counts([=](const char *line) { put(line, with); });
}

void klock_reset_counts(void) { klock::reset_counts(); }
