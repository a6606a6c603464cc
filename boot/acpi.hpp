/* SPDX-License-Identifier: MIT */
/*
 * acpi - which CPUs there are, as the firmware says (private to boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* The CPUs that are enabled and can be addressed, in the firmware's order. */
struct cpu_list {
	unsigned count;
	unsigned left_out; /* enabled, but beyond max_cpus or APIC id 254 */
	u8 apic_ids[max_cpus];
};

/*
 * Reads the ACPI MADT; where that cannot be done, or there is no local APIC to
 * wake anybody, says why and returns a list of one CPU.
 */
cpu_list find_cpus();

} // namespace boot
