/* SPDX-License-Identifier: MIT */
/*
 * acpi_timers - the counters that ACPI names (private to boot)
 *
 * Source: ACPI Specification 6.5, 4.8.2.1 and 5.2.9 (power management timer);
 * IA-PC HPET Specification 1.0a, 3.2.4 (HPET).
 */
#pragma once

#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/loader_info.hpp>

namespace boot {

struct acpi_timers {
	u16 pm_port = 0; /* 0: there is none that boot can read */
	bool pm_has_32_bits = false;
	usize hpet = 0; /* the same; else its address */
};

/* Where there is no ACPI, or none that is right: none of them. */
acpi_timers read_acpi_timers(const firmware_memory &memory,
			     const rsdp_copy &given);

} // namespace boot
