/* SPDX-License-Identifier: MIT */
/*
 * acpi_reader - reads ACPI's tables wherever they lie
 *
 * A table is used only if all of it can be read and its checksum is right.
 * Fields are copied out: nothing promises their alignment.
 */
#include <boot/x86/acpi_reader.hpp>
#include <boot/x86/acpi_tables.hpp>

namespace boot {

namespace {

/* The real-mode segment of the extended BIOS data area (ACPI, 5.2.5.1). */
constexpr usize ebda_pointer = 0x40e;

/* Table sizes are kilobytes; 1 MiB is no table. */
constexpr u32 largest_table = 0x100000;

/* A table's bytes; null: there is none, or none that is right. */
struct table {
	const u8 *bytes = nullptr;
	u32 size = 0;
};

bool sums_to_zero(const u8 *bytes, usize size)
{
	u8 sum = 0;

	for (usize i = 0; i < size; i++)
		sum = static_cast<u8>(sum + bytes[i]);
	return sum == 0;
}

bool is_rsdp(const u8 *bytes)
{
	return copy_of<u64>(bytes) == rsdp_signature &&
	       sums_to_zero(bytes, sizeof(acpi_rsdp));
}

/* All that can be read of it from there on. */
bool take_rsdp(const firmware_memory &memory, u64 address, rsdp_copy &found)
{
	found.size = sizeof(acpi_rsdp_2);
	const u8 *from = memory.at(address, found.size);

	if (!from) {
		found.size = sizeof(acpi_rsdp);
		from = memory.at(address, found.size);
	}
	if (!from || !is_rsdp(from))
		return false;
	__builtin_memcpy(found.bytes, from, found.size);
	return true;
}

/* On a boundary of 16 bytes. */
bool find_rsdp(const firmware_memory &memory, u64 from, u64 to,
	       rsdp_copy &found)
{
	for (u64 at = from; at < to; at += 16) {
		if (take_rsdp(memory, at, found))
			return true;
	}
	return false;
}

bool find_rsdp(const firmware_memory &memory, rsdp_copy &found)
{
	u16 segment = 0;

	memory.read(ebda_pointer, segment);
	const u64 ebda = u64{segment} << 4;

	/* An EBDA that is none may say anything: real ones end at 640 KiB. */
	if (ebda >= 0x80000 && ebda < 0xa0000 &&
	    find_rsdp(memory, ebda, ebda + 1024, found))
		return true;
	return find_rsdp(memory, 0xe0000, 0x100000, found);
}

table read_table(const firmware_memory &memory, u64 address, u32 signature)
{
	acpi_header header;

	if (!memory.read(address, header) || header.signature != signature ||
	    header.length < sizeof(header) || header.length > largest_table)
		return {};
	const u8 *const bytes = memory.at(address, header.length);

	if (!bytes || !sums_to_zero(bytes, header.length))
		return {};
	return {bytes, header.length};
}

struct root_table {
	table of;
	u32 entry_size;
};

/* The XSDT if there is one (ACPI 2.0 on) that is right, else the RSDT. */
root_table find_root(const firmware_memory &memory, const rsdp_copy &copy)
{
	const auto rsdp = copy_of<acpi_rsdp_2>(copy.bytes);

	if (rsdp.first.revision >= 2 && copy.size == sizeof(rsdp) &&
	    sums_to_zero(copy.bytes, sizeof(rsdp))) {
		const table xsdt =
			read_table(memory, rsdp.xsdt, xsdt_signature);

		if (xsdt.bytes)
			return {xsdt, 8};
	}
	return {read_table(memory, rsdp.first.rsdt, rsdt_signature), 4};
}

/* The address of the first table with this signature; 0: none. */
u64 find_table(const firmware_memory &memory, const root_table &root,
	       u32 signature)
{
	for (u32 at = sizeof(acpi_header); at + root.entry_size <= root.of.size;
	     at += root.entry_size) {
		const u8 *const entry = root.of.bytes + at;
		const u64 address = root.entry_size == 8 ? copy_of<u64>(entry)
							 : copy_of<u32>(entry);
		u32 is = 0;

		if (memory.read(address, is) && is == signature)
			return address;
	}
	return 0;
}

/* Only "enabled": an "online capable" CPU has yet to be plugged in. */
void add_cpu(acpi_found &found, u32 apic_id, u32 flags)
{
	if (!(flags & madt_cpu_enabled))
		return;
	if (apic_id >= 255 || found.cpus.count == max_cpus)
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

void read_madt(const table &madt, acpi_found &found, madt_damage &damage)
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
	rsdp_copy rsdp = given;

	if ((rsdp.size < sizeof(acpi_rsdp) || !is_rsdp(rsdp.bytes)) &&
	    !find_rsdp(memory, rsdp))
		return "no ACPI (no RSDP)";
	const root_table root = find_root(memory, rsdp);

	if (!root.of.bytes)
		return "the ACPI RSDT is missing or damaged";
	const u64 address = find_table(memory, root, madt_signature);

	if (!address)
		return "ACPI has no MADT";
	const table madt = read_table(memory, address, madt_signature);

	if (!madt.bytes)
		return "the ACPI MADT is damaged";
	read_madt(madt, found, damage);
	return found.cpus.count ? nullptr : "the ACPI MADT has no CPU";
}

} // namespace boot
