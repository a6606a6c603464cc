/* SPDX-License-Identifier: MIT */
/*
 * acpi_reader - what ACPI's MADT says (private to boot)
 *
 * Source: ACPI Specification 6.5, 5.2.12.
 */
#pragma once

#include <boot/x86/acpi.hpp>
#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/loader_info.hpp>

namespace boot {

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

} // namespace boot
