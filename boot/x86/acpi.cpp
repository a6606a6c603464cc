/* SPDX-License-Identifier: MIT */
/*
 * acpi - what the firmware's tables say of CPUs, I/O APICs and timers
 *
 * Source: ACPI Specification 6.5: 5.2.5.1 (finding the RSDP), 5.2.5.3 (RSDP),
 * 5.2.6 (table header), 5.2.7 (RSDT), 5.2.8 (XSDT), 5.2.12 (MADT); timers:
 * 4.8.2.1, 5.2.9; IA-PC HPET Specification 1.0a, 3.2.4.
 *
 * A table is used only if all of it can be read and its checksum is right.
 * Fields are copied out: nothing promises their alignment.
 */
#include <boot/x86/acpi.hpp>
#include <boot/console.hpp>
#include <boot/interrupts.hpp>
#include <boot/x86/apic.hpp>

namespace boot {

/* -- Finds ACPI's tables wherever they lie -- */

namespace {

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

/* Looks for the RSDP on each boundary of 16 bytes. */
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

/* The table that lies there. */
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

/*
 * `given` is the loader's copy of the RSDP; where that is none, it is looked
 * for where a BIOS puts it. Null, or why there is none.
 */
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

/* The address of the first table with this signature; 0: none. */
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

/* -- ACPI's MADT ------------------- */

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

/* -- The counters that ACPI names -- */

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

/* -- The CPUs that boot uses -- */

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
