/* SPDX-License-Identifier: MIT */
/*
 * acpi_root - finds ACPI's tables wherever they lie
 *
 * A table is used only if all of it can be read and its checksum is right.
 * Fields are copied out: nothing promises their alignment.
 */
#include <boot/x86/acpi_root.hpp>
#include <boot/x86/acpi_tables.hpp>

namespace boot {

namespace {

/* The real-mode segment of the extended BIOS data area (ACPI, 5.2.5.1). */
constexpr usize ebda_pointer = 0x40e;

/* Table sizes are kilobytes; 1 MiB is no table. */
constexpr u32 largest_table = 0x100000;

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

} // namespace

acpi_table read_acpi_table(const firmware_memory &memory, u64 address,
			   u32 signature)
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

namespace {

/* The XSDT if there is one (ACPI 2.0 on) that is right, else the RSDT. */
acpi_root root_of(const firmware_memory &memory, const rsdp_copy &copy)
{
	const auto rsdp = copy_of<acpi_rsdp_2>(copy.bytes);

	if (rsdp.first.revision >= 2 && copy.size == sizeof(rsdp) &&
	    sums_to_zero(copy.bytes, sizeof(rsdp))) {
		const acpi_table xsdt =
			read_acpi_table(memory, rsdp.xsdt, xsdt_signature);

		if (xsdt.bytes)
			return {xsdt, 8};
	}
	return {read_acpi_table(memory, rsdp.first.rsdt, rsdt_signature), 4};
}

} // namespace

const char *find_acpi_root(const firmware_memory &memory,
			   const rsdp_copy &given, acpi_root &root)
{
	rsdp_copy rsdp = given;

	if ((rsdp.size < sizeof(acpi_rsdp) || !is_rsdp(rsdp.bytes)) &&
	    !find_rsdp(memory, rsdp))
		return "no ACPI (no RSDP)";
	root = root_of(memory, rsdp);
	return root.table.bytes ? nullptr
				: "the ACPI RSDT is missing or damaged";
}

u64 find_acpi_table(const firmware_memory &memory, const acpi_root &root,
		    u32 signature)
{
	for (u32 at = sizeof(acpi_header);
	     at + root.entry_size <= root.table.size; at += root.entry_size) {
		const u8 *const entry = root.table.bytes + at;
		const u64 address = root.entry_size == 8 ? copy_of<u64>(entry)
							 : copy_of<u32>(entry);
		u32 is = 0;

		if (memory.read(address, is) && is == signature)
			return address;
	}
	return 0;
}

} // namespace boot
