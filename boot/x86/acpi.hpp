/* SPDX-License-Identifier: MIT */
/*
 * acpi - what the firmware's tables say of CPUs, I/O APICs and timers
 * (private to boot)
 */
#pragma once

#include <boot/machine.hpp>
#include <boot/x86/firmware.hpp>

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

/*
 * -- What ACPI's MADT says --
 *
 * Source: ACPI Specification 6.5, 5.2.12.
 */

/* An entry of the MADT that is damaged: what is behind it was not read. */
struct madt_damage {
	u32 at = 0;   /* from the table's begin; 0: none */
	u32 size = 0; /* what it says of its own */
	u32 table = 0;
};

/*
 * `given` is the loader's copy of the RSDP; where that is none, it is looked
 * for where a BIOS puts it. Null, or why there is no list of CPUs.
 */
const char *read_acpi(const firmware_memory &memory, const rsdp_copy &given,
		      acpi_found &found, madt_damage &damage);

/*
 * -- The counters that ACPI names --
 *
 * Source: ACPI Specification 6.5, 4.8.2.1 and 5.2.9 (power management timer);
 * IA-PC HPET Specification 1.0a, 3.2.4 (HPET).
 */

struct acpi_timers {
	u16 pm_port = 0; /* 0: there is none that boot can read */
	bool pm_has_32_bits = false;
	usize hpet = 0; /* the same; else its address */
};

/* Where there is no ACPI, or none that is right: none of them. */
acpi_timers read_acpi_timers(const firmware_memory &memory,
			     const rsdp_copy &given);

} // namespace boot
