/* SPDX-License-Identifier: MIT */
/*
 * acpi_timers - the counters that ACPI names
 */
#include <boot/x86/acpi_root.hpp>
#include <boot/x86/acpi_tables.hpp>
#include <boot/x86/acpi_timers.hpp>

namespace boot {

namespace {

constexpr usize hpet_registers = 0x400;

acpi_table table_of(const firmware_memory &memory, const acpi_root &root,
		    u32 signature)
{
	const u64 address = find_acpi_table(memory, root, signature);

	return address ? read_acpi_table(memory, address, signature)
		       : acpi_table{};
}

/* The extended address, where it is filled in; a port, or none. */
u64 pm_timer_port(const acpi_table &fadt, u32 old_port)
{
	if (fadt.size < fadt_extended_timer + sizeof(acpi_address))
		return old_port;
	const auto timer =
		copy_of<acpi_address>(fadt.bytes + fadt_extended_timer);

	if (!timer.address)
		return old_port;
	return timer.space == acpi_in_ports ? timer.address : 0;
}

void read_fadt(const acpi_table &table, acpi_timers &found)
{
	if (table.size < sizeof(acpi_fadt))
		return;
	const auto fadt = copy_of<acpi_fadt>(table.bytes);
	const u64 port = pm_timer_port(table, fadt.pm_timer_port);

	if (fadt.flags & fadt_reduced_hardware || fadt.pm_timer_length != 4 ||
	    port > 0xfffc)
		return;
	found.pm_port = static_cast<u16>(port);
	found.pm_has_32_bits = fadt.flags & fadt_timer_of_32_bits;
}

void read_hpet(const acpi_table &table, acpi_timers &found)
{
	if (table.size < sizeof(acpi_hpet))
		return;
	const acpi_address base = copy_of<acpi_hpet>(table.bytes).base;

	if (base.space == acpi_in_memory && base.address % 8 == 0 &&
	    is_mapped(base.address, hpet_registers))
		found.hpet = static_cast<usize>(base.address);
}

} // namespace

acpi_timers read_acpi_timers(const firmware_memory &memory,
			     const rsdp_copy &given)
{
	acpi_timers found;
	acpi_root root;

	if (find_acpi_root(memory, given, root))
		return found;
	read_fadt(table_of(memory, root, fadt_signature), found);
	read_hpet(table_of(memory, root, hpet_signature), found);
	return found;
}

} // namespace boot
