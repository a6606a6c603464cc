/* SPDX-License-Identifier: MIT */
/*
 * totals - what a whole run has done
 */
#include "totals.hpp"

#include <boot/kernel.hpp>

namespace lab {

void add_sections(klock::u64 sections, klock::u64 capacity)
{
	all_totals.acquisitions += sections;
	if (capacity <= 0x10000 && (capacity & (capacity - 1)) == 0 &&
	    capacity > 2)
		all_totals.wraps += boot::div_u64(sections, capacity);
}

void print_totals()
{
	boot::print("# totals: acquisitions=%u wraps=%u interrupts=%u nmis=%u "
		    "faults=%u errors=%u\n",
		    all_totals.acquisitions, all_totals.wraps,
		    all_totals.interrupts, all_totals.nmis, all_totals.faults,
		    all_totals.errors);
}

} // namespace lab
