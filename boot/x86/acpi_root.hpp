/* SPDX-License-Identifier: MIT */
/*
 * acpi_root - finds ACPI's tables wherever they lie (private to boot)
 *
 * Source: ACPI Specification 6.5: 5.2.5.1 (finding the RSDP), 5.2.5.3 (RSDP),
 * 5.2.6 (table header), 5.2.7 (RSDT), 5.2.8 (XSDT).
 */
#pragma once

#include <boot/x86/firmware_memory.hpp>
#include <boot/x86/loader_info.hpp>

namespace boot {

/* A table's bytes; null: there is none, or none that is right. */
struct acpi_table {
	const u8 *bytes = nullptr;
	u32 size = 0;
};

/* The table that names all others. */
struct acpi_root {
	acpi_table table;
	u32 entry_size = 0;
};

/*
 * `given` is the loader's copy of the RSDP; where that is none, it is looked
 * for where a BIOS puts it. Null, or why there is none.
 */
const char *find_acpi_root(const firmware_memory &memory,
			   const rsdp_copy &given, acpi_root &root);

/* The address of the first table with this signature; 0: none. */
u64 find_acpi_table(const firmware_memory &memory, const acpi_root &root,
		    u32 signature);

/* The table that lies there. */
acpi_table read_acpi_table(const firmware_memory &memory, u64 address,
			   u32 signature);

} // namespace boot
