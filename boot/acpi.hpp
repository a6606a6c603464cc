/* SPDX-License-Identifier: MIT */
/*
 * acpi - which CPUs and I/O APICs there are, as the firmware says (private to
 * boot)
 */
#pragma once

#include <boot/types.hpp>

namespace boot {

/* I/O APICs that are looked at; PCs have one or two. */
inline constexpr unsigned max_io_apics = 8;

struct io_apic {
	usize address;
	u32 first_input;
};

/* Where the ISA's interrupt 0, the old timer's, comes in. */
struct timer_wire {
	u32 input = 0; /* of all I/O APICs together */
	bool active_low = false;
};

/* The CPUs that are enabled and can be addressed, in the firmware's order. */
struct cpu_list {
	unsigned count;
	unsigned left_out; /* enabled, but beyond max_cpus or APIC id 254 */
	u8 apic_ids[max_cpus];
	unsigned io_apic_count;
	io_apic io_apics[max_io_apics];
	timer_wire timer;
};

/*
 * Reads the ACPI MADT; where that cannot be done, or there is no local APIC to
 * wake anybody, says why and returns a list of one CPU.
 */
cpu_list find_cpus();

} // namespace boot
