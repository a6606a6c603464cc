/* SPDX-License-Identifier: MIT */
/*
 * acpi - which CPUs there are, as the firmware says: x86
 *
 * Source: ACPI Specification 6.5: 5.2.5.1 (finding the RSDP), 5.2.5.3 (RSDP),
 * 5.2.6 (table header), 5.2.7 (RSDT), 5.2.8 (XSDT), 5.2.12 (MADT).
 *
 * A table is used only if it lies below 4 GiB, where memory is mapped, and its
 * checksum is right. Fields are copied out: nothing promises their alignment.
 */
#include <boot/x86/acpi.hpp>
#include <boot/x86/acpi_tables.hpp>
#include <boot/ipi.hpp>
#include <boot/x86/apic_driver.hpp>
#include <boot/console.hpp>
#include <boot/x86/x86.hpp>

namespace boot {

namespace {

/* The real-mode segment of the extended BIOS data area (ACPI, 5.2.5.1). */
constexpr usize ebda_pointer = 0x40e;

constinit acpi_found tables = {};

template <typename T>
T read_at(usize address)
{
	T value;

	__builtin_memcpy(&value, physical<const T>(address), sizeof(T));
	return value;
}

bool sums_to_zero(usize address, usize size)
{
	u8 sum = 0;

	for (usize i = 0; i < size; i++)
		sum = static_cast<u8>(sum + *physical<const u8>(address + i));
	return sum == 0;
}

bool is_rsdp(usize at)
{
	return read_at<u64>(at) == rsdp_signature &&
	       sums_to_zero(at, sizeof(acpi_rsdp));
}

/* On a boundary of 16 bytes; 0: not there. */
usize find_rsdp(usize from, usize to)
{
	for (usize at = from; at < to; at += 16) {
		if (is_rsdp(at))
			return at;
	}
	return 0;
}

usize find_rsdp()
{
	const usize ebda = usize{read_at<u16>(ebda_pointer)} << 4;

	/* An EBDA that is none may say anything: real ones end at 640 KiB. */
	if (ebda >= 0x80000 && ebda < 0xa0000) {
		const usize rsdp = find_rsdp(ebda, ebda + 1024);

		if (rsdp)
			return rsdp;
	}
	return find_rsdp(0xe0000, 0x100000);
}

/* Null if the table there is right, else what is wrong. */
const char *check_table(u64 address, u32 signature)
{
	/* Table sizes are kilobytes; 1 MiB is no table. */
	if (address < 0x400 || address > 0xfff00000)
		return "lies out of reach";
	const acpi_header header =
		read_at<acpi_header>(static_cast<usize>(address));

	if (header.signature != signature)
		return "has a wrong signature";
	if (header.length < sizeof(acpi_header) || header.length > 0x100000)
		return "has a wrong length";
	if (!sums_to_zero(static_cast<usize>(address), header.length))
		return "has a wrong checksum";
	return nullptr;
}

struct root_table {
	usize address; /* 0: none that can be used */
	u32 entry_size;
};

/* The XSDT if there is one (ACPI 2.0 on) that is right, else the RSDT. */
root_table find_root(usize rsdp_address)
{
	const acpi_rsdp rsdp = read_at<acpi_rsdp>(rsdp_address);

	if (rsdp.revision >= 2 &&
	    sums_to_zero(rsdp_address, sizeof(acpi_rsdp_2))) {
		const u64 xsdt = read_at<acpi_rsdp_2>(rsdp_address).xsdt;

		if (!check_table(xsdt, xsdt_signature))
			return {static_cast<usize>(xsdt), 8};
	}
	if (!check_table(rsdp.rsdt, rsdt_signature))
		return {rsdp.rsdt, 4};
	return {0, 0};
}

u64 table_at(root_table root, usize entry)
{
	return root.entry_size == 8 ? read_at<u64>(entry) : read_at<u32>(entry);
}

/* The address of the first table with this signature; 0: none. */
u64 find_table(root_table root, u32 signature)
{
	const usize end =
		root.address + read_at<acpi_header>(root.address).length;
	usize at = root.address + sizeof(acpi_header);

	for (; at + root.entry_size <= end; at += root.entry_size) {
		const u64 table = table_at(root, at);

		if (table >= 0x400 && table <= 0xfff00000 &&
		    read_at<u32>(static_cast<usize>(table)) == signature)
			return table;
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
void read_entry(usize at, madt_entry entry, acpi_found &found)
{
	if (entry.type == madt_local_apic && entry.length >= sizeof(madt_cpu)) {
		const madt_cpu cpu = read_at<madt_cpu>(at);

		add_cpu(found, cpu.apic_id, cpu.flags);
	} else if (entry.type == madt_local_x2apic &&
		   entry.length >= sizeof(madt_x2apic_cpu)) {
		const auto cpu = read_at<madt_x2apic_cpu>(at);

		add_cpu(found, cpu.apic_id, cpu.flags);
	} else if (entry.type == madt_io_apic &&
		   entry.length >= sizeof(madt_io_apic_entry)) {
		add_io_apic(found, read_at<madt_io_apic_entry>(at));
	} else if (entry.type == madt_override &&
		   entry.length >= sizeof(madt_override_entry)) {
		const auto wire = read_at<madt_override_entry>(at);

		if (wire.bus == 0 && wire.source == 0)
			found.timer = {wire.input,
				       (wire.flags & madt_polarity) ==
					       madt_active_low};
	}
}

void read_madt(usize madt, acpi_found &found)
{
	const usize end = madt + read_at<acpi_header>(madt).length;
	usize at = madt + sizeof(acpi_madt);

	while (at < end) {
		const madt_entry entry = read_at<madt_entry>(at);

		if (entry.length < sizeof(madt_entry) ||
		    at + entry.length > end) {
			print("# boot: the ACPI MADT has an entry of %u bytes "
			      "at %u of %u: what is behind it is not read\n",
			      entry.length, at - madt, end - madt);
			return;
		}
		read_entry(at, entry, found);
		at += entry.length;
	}
}

/* Null, or why there is no list. */
const char *read_cpus(acpi_found &found)
{
	const usize rsdp = find_rsdp();

	if (!has_ipis())
		return "no local APIC";
	if (!rsdp)
		return "no ACPI (no RSDP)";
	const root_table root = find_root(rsdp);

	if (!root.address)
		return "the ACPI RSDT is missing or damaged";
	const u64 madt = find_table(root, madt_signature);

	if (!madt)
		return "ACPI has no MADT";
	if (check_table(madt, madt_signature))
		return "the ACPI MADT is damaged";
	read_madt(static_cast<usize>(madt), found);
	return found.cpus.count ? nullptr : "the ACPI MADT has no CPU";
}

} // namespace

const acpi_found &acpi_tables() { return tables; }

cpu_list find_cpus(const boot_info &)
{
	acpi_found &found = tables;
	const char *const problem = read_cpus(found);

	if (problem) {
		print("# boot: %s: one CPU only\n", problem);
		found.cpus.count = 1;
		found.cpus.ids[0] = apic_id();
	}
	if (found.left_out)
		print("# boot: %u CPUs more than boot can use (%u, APIC ids up "
		      "to 254): left asleep\n",
		      found.left_out, max_cpus);
	return found.cpus;
}

} // namespace boot
