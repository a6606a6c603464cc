/* SPDX-License-Identifier: MIT */
/*
 * acpi - which CPUs there are, as the firmware says: x86
 */
#include <boot/console.hpp>
#include <boot/ipi.hpp>
#include <boot/x86/acpi.hpp>
#include <boot/x86/acpi_reader.hpp>
#include <boot/x86/apic_driver.hpp>
#include <boot/x86/smp.hpp>

namespace boot {

namespace {

constinit acpi_found tables = {};

/* The tables, for APICs as they are now; null, or why there is no list. */
const char *read_tables(const loader_info &loader, madt_damage &damage)
{
	tables = {};
	tables.last_id = apic_last_id();
	return read_acpi(mapped_memory(), loader.rsdp, tables, damage);
}

/* Null, or why there is one CPU alone. */
const char *read_cpus(const loader_info &loader)
{
	madt_damage damage;

	if (!has_ipis())
		return "no local APIC";
	const char *problem = read_tables(loader, damage);

	/* Ids that x2APICs reach: once more. */
	if (tables.large_ids && apic_use_x2apic() &&
	    apic_last_id() != tables.last_id)
		problem = read_tables(loader, damage);
	if (damage.at)
		print("# boot: the ACPI MADT has an entry of %u bytes at %u of "
		      "%u: what is behind it is not read\n",
		      damage.size, damage.at, damage.table);
	if (!problem && !choose_startup_page(loader.free_pages))
		return "no page below 640 KiB is free for the others' start";
	return problem;
}

} // namespace

const acpi_found &acpi_tables() { return tables; }

cpu_list find_cpus(const boot_info &info)
{
	const auto &loader = *static_cast<const loader_info *>(info.machine);
	acpi_found &found = tables;
	const char *const problem = read_cpus(loader);

	if (problem) {
		print("# boot: %s: one CPU only\n", problem);
		found.cpus.count = 1;
		found.cpus.ids[0] = apic_id();
	}
	if (found.left_out)
		print("# boot: %u CPU%s more than boot can use (%u, APIC ids "
		      "up to %u): left asleep\n",
		      found.left_out, found.left_out == 1 ? "" : "s", max_cpus,
		      found.last_id);
	return found.cpus;
}

} // namespace boot
