/* SPDX-License-Identifier: MIT */
#include <klock/counted.h>
#include <klock/print_counts.hpp>

void klock_print_counts(void (*put)(const char *line, void *with), void *with)
{
	klock::print_counts([=](const char *line) { put(line, with); });
}

void klock_reset_counts(void) { klock::reset_counts(); }
