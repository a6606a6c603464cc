/* SPDX-License-Identifier: MIT */
/*
 * acpi - what the firmware's tables say of CPUs and I/O APICs (private to boot)
 */
#pragma once

#include <boot/machine.hpp>

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

/* CPUs that are enabled and can be addressed; what raises timer interrupts. */
struct acpi_found {
	cpu_list cpus;
	u32 last_id = 254;	/* set before: that an IPI reaches */
	unsigned left_out = 0;	/* enabled, but beyond max_cpus or last_id */
	unsigned large_ids = 0; /* of these, beyond last_id */
	unsigned io_apic_count = 0;
	io_apic io_apics[max_io_apics] = {};
	timer_wire timer;
};

/* What find_cpus() has read; nothing before. */
const acpi_found &acpi_tables();

} // namespace boot
