/* SPDX-License-Identifier: MIT */
/*
 * acpi_reader - what ACPI's MADT says
 */
#include <boot/x86/acpi_reader.hpp>
#include <boot/x86/acpi_root.hpp>
#include <boot/x86/acpi_tables.hpp>

namespace boot {

namespace {

/* Only "enabled": an "online capable" CPU has yet to be plugged in. */
void add_cpu(acpi_found &found, u32 apic_id, u32 flags)
{
	if (!(flags & madt_cpu_enabled))
		return;
	found.large_ids += apic_id > found.last_id;
	if (apic_id > found.last_id || found.cpus.count == max_cpus)
		found.left_out++;
	else
		found.cpus.ids[found.cpus.count++] = apic_id;
}

void add_io_apic(acpi_found &found, const madt_io_apic_entry &entry)
{
	if (found.io_apic_count < max_io_apics)
		found.io_apics[found.io_apic_count++] = {entry.address,
							 entry.first_input};
}

/* An entry that is shorter than its type says nothing. */
void read_entry(const u8 *at, madt_entry entry, acpi_found &found)
{
	if (entry.type == madt_local_apic && entry.length >= sizeof(madt_cpu)) {
		const auto cpu = copy_of<madt_cpu>(at);

		add_cpu(found, cpu.apic_id, cpu.flags);
	} else if (entry.type == madt_local_x2apic &&
		   entry.length >= sizeof(madt_x2apic_cpu)) {
		const auto cpu = copy_of<madt_x2apic_cpu>(at);

		add_cpu(found, cpu.apic_id, cpu.flags);
	} else if (entry.type == madt_io_apic &&
		   entry.length >= sizeof(madt_io_apic_entry)) {
		add_io_apic(found, copy_of<madt_io_apic_entry>(at));
	} else if (entry.type == madt_override &&
		   entry.length >= sizeof(madt_override_entry)) {
		const auto wire = copy_of<madt_override_entry>(at);

		if (wire.bus == 0 && wire.source == 0)
			found.timer = {wire.input,
				       (wire.flags & madt_polarity) ==
					       madt_active_low};
	}
}

void read_madt(const acpi_table &madt, acpi_found &found, madt_damage &damage)
{
	u32 at = sizeof(acpi_madt);

	while (at < madt.size) {
		const u32 rest = madt.size - at;
		const auto entry =
			rest < sizeof(madt_entry)
				? madt_entry{}
				: copy_of<madt_entry>(madt.bytes + at);

		if (entry.length < sizeof(madt_entry) || entry.length > rest) {
			damage = {at, entry.length, madt.size};
			return;
		}
		read_entry(madt.bytes + at, entry, found);
		at += entry.length;
	}
}

} // namespace

const char *read_acpi(const firmware_memory &memory, const rsdp_copy &given,
		      acpi_found &found, madt_damage &damage)
{
	acpi_root root;
	const char *const problem = find_acpi_root(memory, given, root);

	if (problem)
		return problem;
	const u64 address = find_acpi_table(memory, root, madt_signature);

	if (!address)
		return "ACPI has no MADT";
	const acpi_table madt =
		read_acpi_table(memory, address, madt_signature);

	if (!madt.bytes)
		return "the ACPI MADT is damaged";
	read_madt(madt, found, damage);
	return found.cpus.count ? nullptr : "the ACPI MADT has no CPU";
}

} // namespace boot
